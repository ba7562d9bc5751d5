"""Energy supply, boards, damping, faults and timed changes, as a scenario file says them.

The names of faults are those of `dens torture`. `who` names groups or single devices (`medics-3`); left out,
it is everybody.
"""

from functools import cache
from typing import Annotated, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from documents.problems import did_you_mean, likely_meant, listed
from emulation.board_profile import board_profiles, load_board_profile
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
    """How long a device computes, in microseconds. A profile brings what was measured for readings; what is
    stated here besides is added to it."""

    profile: Annotated[str, AfterValidator(_known_profile)] | None = None
    algorithm: Literal["fnif", "fnifs", "fnifc"] | None = None
    """How the watchdog's filter goes over subscriptions; what is usual on such a board by default."""
    reading_us: NotNegative = 0.0
    subscription_us: NotNegative = 0.0
    match_us: NotNegative = 0.0
    message_us: NotNegative = 0.0

    @property
    def active_w(self) -> float:
        """Return the power that the profile states for computing."""
        return 0.0 if self.profile is None else _profile(self.profile).active_w

    def judging_us(self, installed: int, released: int) -> float:
        """Return how long a reading takes with so many subscriptions installed that became so many
        notifications.

        Profiles tell groups and aggregators apart, and a reading is not asked which it met: one group is
        counted for each notification, at least one, and every subscription aggregates by minimum.
        """
        own_us = self.reading_us + installed * self.subscription_us
        if self.profile is None:
            return own_us
        satisfied = min(released, installed)
        groups = max(released, min(1, installed))
        refused = {"min": installed - satisfied}
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
