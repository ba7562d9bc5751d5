"""Settings of energy, boards, damping, faults and controls in a scenario file.

Faults have the names of `dens torture`. `who` lists groups or devices (`medics-3`); the default is all
devices.
"""

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from dens.boards.board import Board
from dens.boards.registry import BOARDS
from dens.config.problems import did_you_mean, likely_meant, listed
from emulation.devices.board_profile import board_profiles, load_board_profile
from emulation.devices.matching_costs import MatchingCosts
from emulation.settings_base import NotNegative, Settings
from emulation.table_kinds import kind_by, known_kind, tag

Seconds = Annotated[float, Field(ge=0.001, le=365 * 86_400)]
Share = Annotated[float, Field(gt=0, le=1)]
Who = Annotated[tuple[str, ...], Field(min_length=1)]


class EnergySettings(Settings):
    """Energy use and battery of a device; without a battery, energy is only counted."""

    battery_j: Annotated[float, Field(gt=0)] | None = None
    idle_w: NotNegative = 0.0
    compute_w: NotNegative | None = None
    send_j_per_byte: NotNegative = 0.0
    receive_j_per_byte: NotNegative = 0.0
    reading_j: NotNegative = 0.0


_profile = cache(load_board_profile)


def _known_profile(name: str) -> str:
    known = board_profiles()
    if name not in known:
        raise PydanticCustomError(
            "D302",
            'unknown board profile "{name}"{hint} ({known})',
            {
                "name": name,
                "hint": did_you_mean(name, known),
                "known": listed(known),
                "meant": likely_meant(name, known),
            },
        )
    return name


class BoardSettings(Settings):
    """Computing times of a device in microseconds. A profile has measured times for readings and matching;
    the times given here are added to it.
    """

    profile: Annotated[str, AfterValidator(_known_profile)] | None = None
    algorithm: Literal["fnif", "fnifs", "fnifc"] | None = None
    """The algorithm of the watchdog's filter; by default that of the board."""
    reading_us: NotNegative = 0.0
    subscription_us: NotNegative = 0.0
    message_us: NotNegative = 0.0
    feature_test_us: NotNegative = 0.0
    membership_us: NotNegative = 0.0
    aggregation_us: NotNegative = 0.0
    pair_us: NotNegative = 0.0
    row_us: NotNegative = 0.0

    @model_validator(mode="before")
    @classmethod
    def _without_a_constant_for_matches(cls, table: Any) -> Any:
        """Drop `match_us = 0`, which runs of earlier versions have."""
        if isinstance(table, dict) and table.get("match_us") == 0.0:
            return {key: value for key, value in table.items() if key != "match_us"}
        return table

    @property
    def matching(self) -> MatchingCosts:
        """Return the times of matching steps."""
        own = MatchingCosts(
            self.feature_test_us, self.membership_us, self.aggregation_us, self.pair_us, self.row_us
        )
        return own if self.profile is None else own + _profile(self.profile).matching

    @property
    def limits(self) -> Board | None:
        """Return the limits of the board; None for a device that is not a board."""
        return None if self.profile is None else BOARDS.get(self.profile)

    @property
    def active_w(self) -> float:
        """Return the computing power of the profile."""
        return 0.0 if self.profile is None else _profile(self.profile).active_w

    def judging_us(self, installed: int, judged: int, released: int) -> float:
        """Return the time of a reading, from the numbers of installed subscriptions, evaluated records and
        released notifications. On a board that does not share equal subscriptions, all installed ones are
        evaluated.

        Profiles distinguish groups and aggregators, which are not known here: one group is assumed per
        notification, at least one, and the aggregator minimum for every subscription.
        """
        if self.limits is not None and not self.limits.is_sharing:
            judged = installed
        own_us = self.reading_us + judged * self.subscription_us
        if self.profile is None:
            return own_us
        satisfied = min(released, judged)
        groups = max(released, min(1, judged))
        refused = {"min": judged - satisfied}
        profile = _profile(self.profile)
        return own_us + profile.reading_cost_us(groups, refused, {"min": satisfied})


class DampingSettings(Settings):
    """Suppression of repeated notifications by a watchdog."""

    interval_s: NotNegative = 0.0
    hysteresis: Annotated[int, Field(ge=0, le=255)] = 0


class CrashSettings(Settings):
    """Devices crash, and restart with the committed store or an empty one."""

    kind: Literal["crash"]
    who: Who | None = None
    at_s: NotNegative | None = None
    every_s: Seconds | None = None
    for_s: Seconds | None = None
    store: Literal["kept", "lost"] = "kept"


class ClockSettings(Settings):
    """Clocks jump."""

    kind: Literal["clock"]
    who: Who | None = None
    at_s: NotNegative | None = None
    every_s: Seconds | None = None
    jump_s: Annotated[float, Field(ge=-86_400, le=86_400)]


class LossSettings(Settings):
    """Frames from or to these devices are lost, in addition to the loss of the radio."""

    kind: Literal["loss"]
    who: Who | None = None
    at_s: NotNegative = 0.0
    for_s: Seconds | None = None
    share: Share


class CorruptSettings(Settings):
    """A bit flips in frames from or to these devices."""

    kind: Literal["corrupt"]
    who: Who | None = None
    at_s: NotNegative = 0.0
    for_s: Seconds | None = None
    share: Share


class PartitionSettings(Settings):
    """These devices reach only each other."""

    kind: Literal["partition"]
    who: Who
    at_s: NotNegative
    for_s: Seconds | None = None


FaultSettings = Annotated[
    Annotated[CrashSettings, Tag(tag("crash"))]
    | Annotated[ClockSettings, Tag(tag("clock"))]
    | Annotated[LossSettings, Tag(tag("loss"))]
    | Annotated[CorruptSettings, Tag(tag("corrupt"))]
    | Annotated[PartitionSettings, Tag(tag("partition"))],
    Discriminator(kind_by("kind", "crash")),
    known_kind("kind", "fault", ("crash", "clock", "loss", "corrupt", "partition")),
]


class ControlSettings(Settings):
    """A key of the scenario changes during the run."""

    at_s: NotNegative
    path: Annotated[str, Field(min_length=1)]
    value: float
