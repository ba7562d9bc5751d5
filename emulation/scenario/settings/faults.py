"""Energy supply, boards, damping, faults and timed changes, as a scenario file says them.

The names of faults are those of `dens torture`. `who` names groups or single devices (`medics-3`); left out,
it is everybody.
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
    """What a device uses, and what it has; without a battery it is only counted."""

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
            'there is no board profile "{name}"{hint} ({known})',
            {
                "name": name,
                "hint": did_you_mean(name, known),
                "known": listed(known),
                "meant": likely_meant(name, known),
            },
        )
    return name


class BoardSettings(Settings):
    """How long a device computes, in microseconds. A profile brings what was measured for readings and for
    matching; what is stated here besides is added to it."""

    profile: Annotated[str, AfterValidator(_known_profile)] | None = None
    algorithm: Literal["fnif", "fnifs", "fnifc"] | None = None
    """How the watchdog's filter goes over subscriptions; what is usual on such a board by default."""
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
        """Leave out what runs of earlier versions say of a match where that was nothing."""
        if isinstance(table, dict) and table.get("match_us") == 0.0:
            return {key: value for key, value in table.items() if key != "match_us"}
        return table

    @property
    def matching(self) -> MatchingCosts:
        """Return what each step of matching takes."""
        own = MatchingCosts(
            self.feature_test_us, self.membership_us, self.aggregation_us, self.pair_us, self.row_us
        )
        return own if self.profile is None else own + _profile(self.profile).matching

    @property
    def limits(self) -> Board | None:
        """Return what such a board takes; None for a device that is no board, and takes everything."""
        return None if self.profile is None else BOARDS.get(self.profile)

    @property
    def active_w(self) -> float:
        """Return the power that the profile states for computing."""
        return 0.0 if self.profile is None else _profile(self.profile).active_w

    def judging_us(self, installed: int, judged: int, released: int) -> float:
        """Return how long a reading takes that became so many notifications, with so many subscriptions
        installed and so many records judged; on a board where equals are no one record, that is all of them.

        Profiles tell groups and aggregators apart, and a reading is not asked which it met: one group is
        counted for each notification, at least one, and every subscription aggregates by minimum.
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
    """What a watchdog holds back of what it would release."""

    interval_s: NotNegative = 0.0
    hysteresis: Annotated[int, Field(ge=0, le=255)] = 0


class CrashSettings(Settings):
    """Devices stop, and begin again with what was committed, or with nothing."""

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
    """Frames from or to these devices are lost, besides what the radio loses."""

    kind: Literal["loss"]
    who: Who | None = None
    at_s: NotNegative = 0.0
    for_s: Seconds | None = None
    share: Share


class CorruptSettings(Settings):
    """A bit of a frame from or to these devices flips."""

    kind: Literal["corrupt"]
    who: Who | None = None
    at_s: NotNegative = 0.0
    for_s: Seconds | None = None
    share: Share


class PartitionSettings(Settings):
    """These devices reach nobody but each other."""

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
    """A key of the scenario gets another value while the run goes on."""

    at_s: NotNegative
    path: Annotated[str, Field(min_length=1)]
    value: float
