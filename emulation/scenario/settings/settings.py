"""The keys of a scenario file. Names contain units; unknown keys are errors.

These models check each value on its own. What needs more than one value (a group that is named elsewhere, an
event class of the mission table, a file beside the scenario) is checked in
`emulation.scenario.checks.checks`. docs/reference/scenario.md documents the keys.
"""

from dataclasses import fields
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from dens.config.problems import did_you_mean, likely_meant, listed
from dens.node.installed_policies import made_policy, policies, unknown_policy
from dens.node.settings.routing import BrokerSettings, Routing
from dens.overlay.limits import Limits
from dens.overlay.policies.policy import ReplicationPolicy
from dens.overlay.policies.registry import DEFAULT_POLICY
from emulation.forwarding.none import NONE
from emulation.forwarding.registry import forwarding_kinds
from emulation.mobility.registry import mobility_models
from emulation.mobility.table import AnyMobilityTable
from emulation.scenario.settings.faults import (
    BoardSettings,
    ControlSettings,
    DampingSettings,
    EnergySettings,
    FaultSettings,
)
from emulation.scenario.settings.routing import AdvertisementSettings, LinksSettings
from emulation.scenario.settings.sensors import SensingSettings, SensorSettings
from emulation.settings_base import Metres, Name, NotificationLifetime, NotNegative, Settings
from emulation.table_kinds import known_kind
from plugins.registry import DEFAULT
from watchdog.lifetime import LONGEST_LIFETIME_S

if TYPE_CHECKING:
    from emulation.radio import Radio

ZoneKind = Literal["incident_site", "treatment", "transport", "command", "hospital"]
Role = Literal["subscriber", "mediator", "publisher", "forwarder"]

MOST_NODES = 1_000_000
"""Node numbers have 31 bits on the air; memory is the tighter limit."""


class AreaSettings(Settings):
    """The ground on which nodes move, a rectangle."""

    width_m: Metres
    height_m: Metres


class SecuritySettings(Settings):
    """With a mission key, every message has a tag; without this table, none has."""

    mission_key: Annotated[str, Field(min_length=8, max_length=200)]


def _limits_schema(schema: dict[str, Any]) -> None:
    schema["propertyNames"] = {"enum": [limit.name for limit in fields(Limits)]}


def _known_policy(name: str) -> str:
    if name not in policies():
        meant = likely_meant(name, policies())
        raise PydanticCustomError("D302", "{message}", {"message": unknown_policy(name), "meant": meant})
    return name


def _policy_schema(schema: dict[str, Any]) -> None:
    schema["enum"] = list(policies())


def _policies_schema(schema: dict[str, Any]) -> None:
    schema["additionalProperties"] = False
    schema["properties"] = {
        kind.name: {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                one.name: {
                    "type": "integer",
                    "default": one.default,
                    "description": one.meaning,
                    **(
                        {"enum": list(one.among)}
                        if one.among
                        else {"minimum": one.least, "maximum": one.most}
                    ),
                }
                for one in kind.parameters
            },
        }
        for kind in policies().values()
    }


class RecordedContactsSettings(Settings):
    """Contacts from a recording instead of from motion; `obtain` explains how to get the file."""

    file: Annotated[str, Field(min_length=1)]
    least_s: NotNegative = 0.0
    ids: tuple[NonNegativeInt, NonNegativeInt] | None = None
    obtain: str = ""


class InterestsSettings(Settings):
    """Interests of a recording's participants, from matrices or, with `number`, at random."""

    group: Name
    event: str
    attribute: str
    language: str = DEFAULT
    folder: str | None = None
    number: PositiveInt | None = None
    obtain: str = ""


class OverlaySettings(Settings):
    """Replication, routing and matching of DENS nodes, and limits that differ from the defaults.

    `policies` has parameters by name of the policy, so that runs with several policies can share a file.
    """

    policy: Annotated[str, AfterValidator(_known_policy), Field(json_schema_extra=_policy_schema)] = (
        DEFAULT_POLICY
    )
    policies: Annotated[dict[str, dict[str, int]], Field(json_schema_extra=_policies_schema)] = Field(
        default_factory=dict
    )
    limits: Annotated[dict[str, PositiveInt], Field(json_schema_extra=_limits_schema)] = Field(
        default_factory=dict
    )
    notification_lifetime_s: NotificationLifetime | None = None
    matcher: str | None = None
    """The matching algorithm of mediators, unless their group has its own."""
    condition: str | None = None
    """The feature condition: which attributes a notification needs to match a subscription."""
    covering: bool = False
    """Whether mediators suppress installs of covered subscriptions."""
    ends_know: bool = Field(default=False, exclude_if=lambda knows: not knows)
    """Whether endpoints keep the offers that they receive, and answer look-ups from them. Manifests have this
    key only if it is set, so that older manifests stay identical.
    """
    routing: Routing = Field(default="carry", exclude_if=lambda routing: routing == "carry")
    """Whether mediators carry, or are brokers that route or flood."""
    broker: BrokerSettings = Field(
        default=BrokerSettings(), exclude_if=lambda broker: broker == BrokerSettings()
    )

    def replication(self, node: int) -> ReplicationPolicy:
        """Return the policy of one node."""
        return made_policy(self.policy, node, self.policies.get(self.policy, {}))


def _known_forwarding(name: str) -> str:
    known = forwarding_kinds()
    if name not in known:
        raise PydanticCustomError(
            "D302",
            'unknown forwarding layer "{named}"{hint} ({known})',
            {
                "named": name,
                "hint": did_you_mean(name, known),
                "known": listed(list(known)),
                "meant": likely_meant(name, known),
            },
        )
    return name


def _forwarding_schema(schema: dict[str, Any]) -> None:
    schema["enum"] = list(forwarding_kinds())


class NetworkSettings(Settings):
    """The network layer below the overlay: forwarding, time until a change of a link is known, hop limit, and
    size of the header on each hop.
    """

    forwarding: Annotated[
        str, AfterValidator(_known_forwarding), Field(json_schema_extra=_forwarding_schema)
    ] = NONE.name
    convergence_s: Annotated[float, Field(ge=0, le=86_400)] = 7.0
    hop_limit: Annotated[int, Field(ge=1, le=255)] = 16
    header_bytes: Annotated[int, Field(ge=0, le=1_000)] = 20

    @property
    def is_routed(self) -> bool:
        """Return whether frames are forwarded beyond range."""
        return forwarding_kinds()[self.forwarding].make is not None


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

    def radio(self) -> "Radio":
        """Return the radio with these settings."""
        from emulation.radio import Radio  # Imports SimPy, which checking a scenario does not need.

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


if TYPE_CHECKING:
    MobilitySettings = AnyMobilityTable
else:  # The classes are known only at run time: other packages may add some.
    MobilitySettings = Annotated[
        reduce(or_, mobility_models().values()),
        Field(discriminator="model"),
        known_kind("model", "mobility model", list(mobility_models())),
    ]


def _as_several(role: Any) -> Any:
    return (role,) if isinstance(role, str) else role


_ROLES = ("subscriber", "mediator", "publisher", "forwarder")
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
    """Devices with the same settings. Device numbers follow the order of the groups."""

    name: Name
    role: Roles
    count: Annotated[int, Field(ge=1, le=MOST_NODES)]
    radio: Name
    mobility: MobilitySettings
    energy: Name | None = None
    board: Name | None = None
    matcher: str | None = None
    damping: DampingSettings = DampingSettings()


Corners = Annotated[tuple[tuple[NotNegative, NotNegative], ...], Field(min_length=3, max_length=100)]


class ZoneSettings(Settings):
    """A zone of a disaster area, a convex polygon."""

    kind: ZoneKind
    corners_m: Corners


class ObstacleSettings(Settings):
    """An obstacle, a convex polygon; several may touch or overlap."""

    corners_m: Corners


class SubscriptionSettings(Settings):
    """Every node of a group subscribes with this file at this time, and may withdraw later."""

    group: Name
    file: Annotated[str, Field(min_length=1)]
    at_s: NotNegative = 0.0
    withdrawn_at_s: NotNegative | None = None


def _fewest_first(pair: tuple[int, int]) -> tuple[int, int]:
    if pair[0] > pair[1]:
        raise PydanticCustomError("D302", "the least must not be above the most")
    return pair


class PopulationSettings(Settings):
    """Random subscriptions, distributed over the nodes of a group."""

    group: Name
    language: str = DEFAULT
    event: str
    number: Annotated[int, Field(ge=1, le=1_000_000)]
    attributes: Annotated[tuple[PositiveInt, PositiveInt], AfterValidator(_fewest_first)] = (1, 3)
    among: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    similarity: Annotated[float, Field(ge=0, le=1)] = 0.0
    selectivity: Annotated[float, Field(ge=0, le=1)] = 0.1
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.5
    aggregator: str | None = None
    form: str | None = None
    valid_s: Annotated[float, Field(ge=1, le=LONGEST_LIFETIME_S)] = 86_400.0
    at_s: NotNegative = 0.0


class PublicationSettings(Settings):
    """Every node of a group publishes these documents once, from `at_s` on, `every_s` apart."""

    group: Name
    language: Annotated[str, Field(min_length=1, max_length=40)]
    files: Annotated[tuple[str, ...], Field(min_length=1, max_length=10_000)]
    at_s: NotNegative = 0.0
    every_s: Annotated[float, Field(ge=0.001, le=365 * 86_400)] = 60.0
    lifetime_s: NotificationLifetime | None = None
    """The lifetime of each document; by default that of the document, else that of its event class."""


class TrafficSettings(Settings):
    """Plain unicast messages between groups, as in other simulators."""

    source: Name
    destination: Name
    first_s: NotNegative = 0.0
    every_s: Annotated[float, Field(ge=0.001, le=365 * 86_400)]
    size_bytes: Annotated[int, Field(ge=1, le=60_000)]
    lifetime_s: Annotated[float, Field(gt=0, le=LONGEST_LIFETIME_S)]


def _float_of_decimal(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


Parameter = Annotated[bool | int | float | str, BeforeValidator(_float_of_decimal)]


class ProcessSettings(Settings):
    """A SimPy process: a generator function of a Python file, called with the run and these parameters."""

    file: Annotated[str, Field(min_length=1)]
    function: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] = "process"
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    files: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Files that the function reads with `run.file`. A run keeps copies of them."""
    moves: bool = False
    """Whether the function calls `run.move`."""


def _several(given: Any) -> Any:
    """Accept a single name for a list, and None, which runs of earlier versions have."""
    return () if given is None else (given,) if isinstance(given, str) else given


OneOrSeveral = Annotated[
    tuple[str, ...],
    BeforeValidator(_several),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
"""The name of a file, or a list of them."""


class ScenarioSettings(Settings):
    """One scenario file."""

    name: Name
    title: str = ""
    duration_s: Annotated[float, Field(ge=0.001, le=365 * 86_400)]
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    vocabularies: tuple[str, ...] = ()
    thesaurus: OneOrSeveral = ()
    area: AreaSettings
    security: SecuritySettings | None = None
    overlay: OverlaySettings = OverlaySettings()
    network: NetworkSettings = NetworkSettings()
    contacts: RecordedContactsSettings | None = None
    links: LinksSettings | None = Field(default=None, exclude_if=lambda links: links is None)
    interests: InterestsSettings | None = None
    radio: Annotated[dict[Name, RadioSettings], Field(min_length=1)]
    energy: dict[Name, EnergySettings] = Field(default_factory=dict)
    board: dict[Name, BoardSettings] = Field(default_factory=dict)
    zone: tuple[ZoneSettings, ...] = ()
    obstacle: tuple[ObstacleSettings, ...] = ()
    group: Annotated[tuple[GroupSettings, ...], Field(min_length=1)]
    subscription: tuple[SubscriptionSettings, ...] = ()
    population: tuple[PopulationSettings, ...] = ()
    sensing: SensingSettings = SensingSettings()
    sensor: tuple[SensorSettings, ...] = ()
    publication: tuple[PublicationSettings, ...] = ()
    advertisement: tuple[AdvertisementSettings, ...] = Field(default=(), exclude_if=lambda given: not given)
    traffic: tuple[TrafficSettings, ...] = ()
    fault: tuple[FaultSettings, ...] = ()
    control: tuple[ControlSettings, ...] = ()
    process: tuple[ProcessSettings, ...] = Field(default=(), exclude_if=lambda given: not given)

    @model_validator(mode="before")
    @classmethod
    def _mobility_is_optional_without_motion(cls, table: Any) -> Any:
        """Make groups without mobility static if contacts are recorded or links are permanent."""
        is_given = isinstance(table, dict) and any(table.get(key) is not None for key in _NOT_FROM_MOTION)
        groups = table.get("group") if is_given else None
        if not isinstance(groups, list | tuple):
            return table
        return {
            **table,
            "group": [{**_STATIC, **group} if isinstance(group, dict) else group for group in groups],
        }


_STATIC = {"mobility": {"model": "static"}}
_NOT_FROM_MOTION = ("contacts", "links")
"""The tables that define contacts independently of motion."""


def scenario_schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario file, for editors."""
    schema = ScenarioSettings.model_json_schema()
    schema["$defs"]["GroupSettings"]["required"].remove("mobility")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "if": {"not": {"anyOf": [{"required": [key]} for key in _NOT_FROM_MOTION]}},
        "then": {"properties": {"group": {"items": {"required": ["mobility"]}}}},
    }
