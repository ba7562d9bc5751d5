"""How groups move, as a scenario file says it: one table for each model."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from emulation.mobility.disaster_area import USUAL_PAUSES_S, DisasterArea, Zones
from emulation.mobility.gauss_markov import GaussMarkov
from emulation.mobility.model import MobilityModel
from emulation.mobility.random_direction import RandomDirection
from emulation.mobility.random_waypoint import RandomWaypoint
from emulation.mobility.reference_point import ReferencePoint
from emulation.mobility.static import Static
from emulation.scenario.base import Metres, NotNegative, Settings, Speed
from emulation.scenario.unions import known_kind

Duty = Literal["search", "bearer", "treatment", "command", "hospital", "ambulance", "messenger", "casualty"]


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
    """Move through the scenario's zones as a duty asks; the usual pauses differ from duty to duty.

    `called` says what calls a node away from its duty, to where the notification comes from: one that is
    delivered to it, or one that it finds a match for.
    """

    model: Literal["disaster_area"]
    duty: Duty
    speed_m_per_s: SpeedRange = (1.0, 2.0)
    drive_m_per_s: SpeedRange = (5.0, 12.0)
    pause_s: PauseRange | None = None
    begins_s: PauseRange = (0.0, 0.0)
    called: Literal["never", "delivered", "matched"] = "never"
    attends_s: PauseRange = (60.0, 300.0)

    def mobility_in(self, zones: Zones) -> DisasterArea:
        """Return the model with these settings, in these zones."""
        pause_s = USUAL_PAUSES_S[self.duty] if self.pause_s is None else self.pause_s
        return DisasterArea(
            zones,
            self.duty,
            self.speed_m_per_s,
            self.drive_m_per_s,
            pause_s,
            self.begins_s,
            self.attends_s,
        )


class RecordedSettings(Settings):
    """Go where somebody recorded that nodes went."""

    model: Literal["recorded"]
    file: Annotated[str, Field(min_length=1)]


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
    known_kind("model", "mobility model", _MODELS),
]
