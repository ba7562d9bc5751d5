"""What a scenario file may say, key by key. Units stand in the names; an unknown key is an error.

These models check every value on its own. What needs more than one value (a group that is named somewhere
else, an event class of the mission table, a file beside the scenario) is checked in
`emulation.scenario.checks`. docs/scenario.md shows the same to people.
"""

from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PositiveFloat,
    PositiveInt,
    Tag,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from dens.limits import Limits
from dens.policies.registry import POLICIES
from emulation.mobility.disaster_area import USUAL_PAUSES_S, DisasterArea, Zones
from emulation.mobility.gauss_markov import GaussMarkov
from emulation.mobility.model import MobilityModel
from emulation.mobility.random_direction import RandomDirection
from emulation.mobility.random_waypoint import RandomWaypoint
from emulation.mobility.reference_point import ReferencePoint
from emulation.mobility.static import Static
from emulation.radio import Radio
from knowledge_manager.documents import did_you_mean, listed

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
"""Lower case, digits and underscores: names become parts of file names and of trace columns."""
NotNegative = Annotated[float, Field(ge=0)]
Metres = Annotated[float, Field(gt=0, le=1e7)]
"""A length on the ground: up to ten thousand kilometres."""
Speed = Annotated[float, Field(gt=0, le=10_000)]
"""Metres per second: up to what leaves the earth."""
ZoneKind = Literal["incident_site", "treatment", "transport", "command", "hospital"]
Duty = Literal["search", "bearer", "treatment", "command", "hospital", "ambulance", "messenger", "casualty"]
Role = Literal["subscriber", "mediator", "publisher"]

MOST_NODES = 65_536
"""Node numbers have two bytes on the air."""


class Settings(BaseModel):
    """A table of the file: frozen, unknown keys forbidden, no infinities."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class AreaSettings(Settings):
    """The ground on which nodes move, a rectangle."""

    width_m: Metres
    height_m: Metres


class SecuritySettings(Settings):
    """With a mission key every message carries a tag; without this table none does."""

    mission_key: Annotated[str, Field(min_length=8, max_length=200)]


def _limits_schema(schema: dict[str, Any]) -> None:
    schema["propertyNames"] = {"enum": [limit.name for limit in fields(Limits)]}


def _known_policy(name: str) -> str:
    if name not in POLICIES:
        raise PydanticCustomError(
            "D302",
            'there is no replication policy "{name}"{hint} ({known})',
            {"name": name, "hint": did_you_mean(name, POLICIES), "known": listed(list(POLICIES))},
        )
    return name


class OverlaySettings(Settings):
    """How DENS nodes replicate, and the bounds of every engine that differ from the usual ones."""

    policy: Annotated[str, AfterValidator(_known_policy), Field(json_schema_extra={"enum": [*POLICIES]})] = (
        "epidemic"
    )
    limits: Annotated[dict[str, PositiveInt], Field(json_schema_extra=_limits_schema)] = {}


class RadioSettings(Settings):
    """A kind of radio. Two nodes reach each other within the shorter of their ranges."""

    range_m: Metres
    rate_bytes_per_s: PositiveFloat
    setup_ms: Annotated[int, Field(ge=0, le=600_000)] = 0
    loss: Annotated[float, Field(ge=0, lt=1)] = 0.0
    frame_bytes: Annotated[int, Field(ge=0, le=1 << 20)] = 0
    overhead_bytes: Annotated[int, Field(ge=0, le=10_000)] = 0
    half_duplex: bool = True
    transfers: Literal["one", "unlimited"] = "one"
    cut: Literal["restart", "resume"] = "restart"
    least_contact_s: NotNegative = 0.0

    def radio(self) -> Radio:
        """Return the radio with these settings."""
        return Radio(
            self.range_m,
            self.rate_bytes_per_s,
            self.setup_ms,
            self.loss,
            self.frame_bytes,
            self.overhead_bytes,
            self.half_duplex,
            self.transfers == "unlimited",
            self.cut == "resume",
        )


def _least_first(pair: tuple[float, float]) -> tuple[float, float]:
    least, most = pair
    if least > most:
        raise PydanticCustomError(
            "D302", "[{least}, {most}]: the least must not be above the most", {"least": least, "most": most}
        )
    return pair


SpeedRange = Annotated[tuple[Speed, Speed], AfterValidator(_least_first)]
PauseRange = Annotated[tuple[NotNegative, NotNegative], AfterValidator(_least_first)]


class RandomWaypointSettings(Settings):
    """Wait, choose a point, walk there, and again."""

    model: Literal["random_waypoint"]
    speed_m_per_s: SpeedRange
    pause_s: PauseRange = (0.0, 0.0)

    def mobility(self) -> MobilityModel:
        """Return the model with these settings."""
        return RandomWaypoint(self.speed_m_per_s, self.pause_s)


class RandomDirectionSettings(Settings):
    """Walk straight to the border, wait, choose another direction."""

    model: Literal["random_direction"]
    speed_m_per_s: SpeedRange
    pause_s: PauseRange = (0.0, 0.0)

    def mobility(self) -> MobilityModel:
        """Return the model with these settings."""
        return RandomDirection(self.speed_m_per_s, self.pause_s)


class GaussMarkovSettings(Settings):
    """Wind along: speed and direction remember what they were."""

    model: Literal["gauss_markov"]
    speed_m_per_s: Speed
    speed_deviation_m_per_s: NotNegative = 0.0
    memory: Annotated[float, Field(ge=0, le=1)] = 0.75
    step_s: Annotated[float, Field(ge=0.1)] = 10.0

    def mobility(self) -> MobilityModel:
        """Return the model with these settings."""
        return GaussMarkov(self.speed_m_per_s, self.speed_deviation_m_per_s, self.memory, self.step_s)


class ReferencePointSettings(Settings):
    """Go together: the whole group follows one random waypoint walk, each within `spread_m` of it."""

    model: Literal["reference_point"]
    speed_m_per_s: SpeedRange
    pause_s: PauseRange = (0.0, 0.0)
    spread_m: Metres
    wander_s: Annotated[float, Field(ge=1)] = 60.0

    def mobility(self) -> MobilityModel:
        """Return the model with these settings."""
        return ReferencePoint(self.speed_m_per_s, self.pause_s, self.spread_m, self.wander_s)


class StaticSettings(Settings):
    """Stand still: at the given places, one for each node of the group, or at places drawn by chance."""

    model: Literal["static"]
    places_m: tuple[tuple[NotNegative, NotNegative], ...] | None = None

    def mobility(self) -> MobilityModel:
        """Return the model with these settings."""
        return Static(self.places_m)


class DisasterAreaSettings(Settings):
    """Move through the scenario's zones as a duty asks; the usual pauses differ from duty to duty."""

    model: Literal["disaster_area"]
    duty: Duty
    speed_m_per_s: SpeedRange = (1.0, 2.0)
    drive_m_per_s: SpeedRange = (5.0, 12.0)
    pause_s: PauseRange | None = None
    begins_s: PauseRange = (0.0, 0.0)

    def mobility_in(self, zones: Zones) -> MobilityModel:
        """Return the model with these settings, in these zones."""
        pause_s = USUAL_PAUSES_S[self.duty] if self.pause_s is None else self.pause_s
        return DisasterArea(zones, self.duty, self.speed_m_per_s, self.drive_m_per_s, pause_s, self.begins_s)


class RecordedSettings(Settings):
    """Go where somebody recorded that nodes went."""

    model: Literal["recorded"]
    file: Annotated[str, Field(min_length=1)]


def _known_model(value: Any) -> Any:
    """Say which models there are when the one that is named is none of them."""
    model = value.get("model") if isinstance(value, dict) else None
    if isinstance(model, str) and model not in _MODELS:
        raise PydanticCustomError(
            "D302",
            'there is no mobility model "{model}"{hint} ({known})',
            {"model": model, "hint": did_you_mean(model, _MODELS), "known": listed(_MODELS)},
        )
    return value


_MODELS = (
    "static",
    "random_waypoint",
    "random_direction",
    "gauss_markov",
    "reference_point",
    "disaster_area",
    "recorded",
)
MobilitySettings = Annotated[
    StaticSettings
    | RandomWaypointSettings
    | RandomDirectionSettings
    | GaussMarkovSettings
    | ReferencePointSettings
    | DisasterAreaSettings
    | RecordedSettings,
    Field(discriminator="model"),
    BeforeValidator(_known_model),
]


def _as_several(role: Any) -> Any:
    return (role,) if isinstance(role, str) else role


_ROLES = ("subscriber", "mediator", "publisher")
Roles = Annotated[
    tuple[Role, ...],
    BeforeValidator(_as_several),
    Field(min_length=1),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": [*_ROLES]},
                {"type": "array", "items": {"enum": [*_ROLES]}, "minItems": 1, "uniqueItems": True},
            ]
        }
    ),
]


class GroupSettings(Settings):
    """Devices that are alike. Numbers are given group by group, in the order of the file."""

    name: Name
    role: Roles
    count: Annotated[int, Field(ge=1, le=MOST_NODES)]
    radio: Name
    mobility: MobilitySettings


Corners = Annotated[tuple[tuple[NotNegative, NotNegative], ...], Field(min_length=3, max_length=100)]


class ZoneSettings(Settings):
    """A zone of a disaster area, a convex polygon."""

    kind: ZoneKind
    corners_m: Corners


class ObstacleSettings(Settings):
    """Something to go around, a convex polygon; several may touch or overlap."""

    corners_m: Corners


class SubscriptionSettings(Settings):
    """Every node of a group asks for what this XML file says, at this time."""

    group: Name
    file: Annotated[str, Field(min_length=1)]
    at_s: NotNegative = 0.0


class VitalSignsSettings(Settings):
    """Makes up the vital signs of patients, some of whom deteriorate."""

    generator: Literal["vital_signs"]
    deteriorating: Annotated[float, Field(ge=0, le=1)] = 0.3


class DiurnalWeatherSettings(Settings):
    """Makes up the weather at a pole: day and night, and squalls."""

    generator: Literal["diurnal_weather"]
    mean_deg_c: Annotated[float, Field(ge=-30, le=45)] = 12.0
    swing_deg_c: Annotated[float, Field(ge=0, le=25)] = 6.0
    begins_at_h: Annotated[float, Field(ge=0, lt=24)] = 6.0
    squalls_per_day: Annotated[float, Field(ge=0, le=100)] = 1.0


class FireSignsSettings(Settings):
    """Makes up heat, carbon monoxide and smoke at a place where it sometimes burns."""

    generator: Literal["fire_signs"]
    flare_ups_per_day: Annotated[float, Field(ge=0, le=100)] = 1.0


class CsvSettings(Settings):
    """Replays a recording: which column is the time, and which is which attribute."""

    csv: Annotated[str, Field(min_length=1)]
    time_column: str
    series_column: str | None = None
    columns: Annotated[dict[str, str], Field(min_length=1)]
    units: dict[str, str] = {}
    missing: tuple[str, ...] = ("",)


_GENERATORS = ("vital_signs", "diurnal_weather", "fire_signs")


def _known_source(value: Any) -> Any:
    """Say which generators there are when the one that is named is none of them."""
    generator = value.get("generator") if isinstance(value, dict) else None
    if isinstance(generator, str) and generator not in _GENERATORS:
        raise PydanticCustomError(
            "D302",
            'there is no generator "{generator}"{hint} ({known})',
            {
                "generator": generator,
                "hint": did_you_mean(generator, _GENERATORS),
                "known": listed(_GENERATORS),
            },
        )
    return value


def _kind_of_source(value: Any) -> str:
    """Tell the kinds of sources apart; the tags are no keys of the file, so that no place is taken for
    another."""
    if not isinstance(value, dict):
        return getattr(value, "generator", "recording")
    return "recording" if "csv" in value else str(value.get("generator", "vital_signs"))


SourceSettings = Annotated[
    Annotated[VitalSignsSettings, Tag("vital_signs")]
    | Annotated[DiurnalWeatherSettings, Tag("diurnal_weather")]
    | Annotated[FireSignsSettings, Tag("fire_signs")]
    | Annotated[CsvSettings, Tag("recording")],
    Discriminator(_kind_of_source),
    BeforeValidator(_known_source),
]


class SensorSettings(Settings):
    """Every node of a group reads an event class at this interval, from this time on."""

    group: Name
    event: str
    at_s: NotNegative = 0.0
    every_s: Annotated[float, Field(ge=0.001)]
    source: SourceSettings


class TrafficSettings(Settings):
    """Plain messages from a node of one group to another node, as other simulators have them."""

    source: Name
    destination: Name
    first_s: NotNegative = 0.0
    every_s: Annotated[float, Field(ge=0.001)]
    size_bytes: Annotated[int, Field(ge=1, le=60_000)]
    lifetime_s: PositiveFloat


class ScenarioSettings(Settings):
    """One scenario file."""

    name: Name
    title: str = ""
    duration_s: Annotated[float, Field(ge=0.001, le=365 * 86_400)]
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    vocabularies: tuple[str, ...] = ()
    area: AreaSettings
    security: SecuritySettings | None = None
    overlay: OverlaySettings = OverlaySettings()
    radio: Annotated[dict[Name, RadioSettings], Field(min_length=1)]
    zone: tuple[ZoneSettings, ...] = ()
    obstacle: tuple[ObstacleSettings, ...] = ()
    group: Annotated[tuple[GroupSettings, ...], Field(min_length=1)]
    subscription: tuple[SubscriptionSettings, ...] = ()
    sensor: tuple[SensorSettings, ...] = ()
    traffic: tuple[TrafficSettings, ...] = ()


def scenario_schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario file, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **ScenarioSettings.model_json_schema(),
    }
