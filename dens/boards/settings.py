"""Settings of a board: its node number, what it measures, and its network."""

from collections.abc import Sequence
from dataclasses import dataclass

from dens.boards.board import Board
from dens.boards.board_language import BOARD_CONDITIONS
from dens.boards.filter_parts import DEFAULT
from dens.boards.registry import BOARDS
from dens.config.problems import did_you_mean
from dens.config.refusal import Refusal
from knowledge_manager.dictionary.extract import PROTOCOLS, Extract, OfferedSource
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute
from watchdog.lifetime import lifetime_code
from watchdog.vector import ONE_HOUR

ANNOUNCED_Q = 168
"""Lifetime code of an announcement: 2²¹ seconds, about 24 days."""


BOARD_PROTOCOLS = ("pin", "i2c", "adc", "spi", "serial", "file")
"""Protocols of a board's sources. A file is a recording on a micro:bit."""


@dataclass(frozen=True, slots=True)
class BoardSettings:
    """Everything that a build fills in. `attributes` are sorted by index."""

    node: int
    table_check: int
    event: int
    attributes: tuple[Attribute, ...]
    protocol: int = 0
    period_ms: int = 1000
    mission_key: bytes | None = None
    network: tuple[str, str] = ("", "")
    mediator: tuple[str, int] = ("255.255.255.255", 7001)
    lifetime: int = ONE_HOUR
    """Lifetime code of the board's notifications, from its event class."""
    algorithm: str = DEFAULT
    """Filter algorithm (watchdog/codes.py)."""
    condition: str = BOARD_CONDITIONS[0]
    """The feature condition of its mission."""
    forms: str | None = None
    """Additional forms on a micro:bit (dens/boards/filter_parts.py)."""
    is_linked: bool = True
    """Whether it uses PUB/DENS. A micro:bit without a link prints its notifications."""
    kernels: str | None = None
    """Filter kernels of a board with folders (dens/boards/package_files.py); None is the default."""

    @property
    def mask(self) -> int:
        """Return the attributes as a feature."""
        return sum(1 << attribute.index for attribute in self.attributes)

    @property
    def extract(self) -> bytes:
        """Return what the board announces; it fills the counter in itself."""
        offered = OfferedSource(self.event, self.mask, self.protocol, 0)
        return Extract(0, ANNOUNCED_Q, 1, (offered,)).encode()


def board_settings(
    table: MissionTable,
    event: str,
    attributes: Sequence[str],
    *,
    node: int,
    protocol: str = "",
    period_ms: int = 1000,
    limits: Board = BOARDS["microbit"],
    algorithm: str | None = None,
) -> BoardSettings:
    """Look names up in the mission table; refuse what a board cannot do."""
    reason = limits.width_fault(table.feature_bytes)
    if reason is not None:
        raise Refusal(reason)
    if not 0 <= node <= 65000:
        raise Refusal(f"node {node} is out of range for boards (0..65000)")
    if protocol and protocol not in BOARD_PROTOCOLS:
        known_words = ", ".join(BOARD_PROTOCOLS)
        hint = did_you_mean(protocol, BOARD_PROTOCOLS)
        raise Refusal(f'a board reads nothing by protocol "{protocol}" ({known_words}){hint}')
    known = table.event(event)
    chosen = sorted((known.attribute(name) for name in dict.fromkeys(attributes)), key=lambda one: one.index)
    nominal = [one.name for one in chosen if one.type == "nominal"]
    if nominal:
        raise Refusal(
            f"{', '.join(nominal)} of {event} is a word, not a number; a board's sensor gives numbers"
        )
    if not chosen:
        raise Refusal(f"no attribute given; name those of {event} that the board measures")
    return BoardSettings(
        node,
        table.check,
        known.index,
        tuple(chosen),
        PROTOCOLS.index(protocol),
        period_ms,
        lifetime=lifetime_code(known.notification_lifetime_s),
        algorithm=limits.algorithms[0] if algorithm is None else algorithm,
    )
