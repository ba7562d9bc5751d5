"""What a board is told about itself and its mission: who it is, what it measures, with whom it talks."""

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
"""How long an announcement may be believed: 2²¹ seconds, about 24 days."""


BOARD_PROTOCOLS = ("pin", "i2c", "adc", "spi", "serial", "file")
"""How a board's sources are read; a file is a micro:bit's recording, or what its owner reads."""


@dataclass(frozen=True, slots=True)
class BoardSettings:
    """Everything that a build fills in. `attributes` are measured, in rising order of their indexes."""

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
    """The lifetime code of what the board publishes: its event class says it."""
    algorithm: str = DEFAULT
    """How its filter goes over subscriptions (watchdog/codes.py)."""
    condition: str = BOARD_CONDITIONS[0]
    """The feature condition of its mission."""
    forms: str | None = None
    """What a micro:bit evaluates beside the plain aggregators (dens/boards/filter_parts.py)."""
    is_linked: bool = True
    """Whether it speaks PUB/DENS; a micro:bit that does not prints what it finds."""
    kernels: str | None = None
    """What judges readings on a board with folders (dens/boards/package_files.py); None is the usual."""

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
    mission_key: bytes | None = None,
    limits: Board = BOARDS["microbit"],
    algorithm: str | None = None,
) -> BoardSettings:
    """Look names up in the mission table; what a board cannot do is refused."""
    reason = limits.width_fault(table.feature_bytes)
    if reason is not None:
        raise Refusal(reason)
    if not 0 <= node <= 65000:
        raise Refusal(f"{node} is no node for a board; boards are 0..65000")
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
        raise Refusal(f"say which attributes of {event} the board measures")
    return BoardSettings(
        node,
        table.check,
        known.index,
        tuple(chosen),
        PROTOCOLS.index(protocol),
        period_ms,
        mission_key,
        lifetime=lifetime_code(known.notification_lifetime_s),
        algorithm=limits.algorithms[0] if algorithm is None else algorithm,
    )
