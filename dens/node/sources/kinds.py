"""The registry of a host: which class of source reads which protocol and content type.

A third party's package names a `SourceKind` in the entry-point group `dens.sources`; `dens node publish
--protocol … --content-type …` finds it without further configuration.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Final, Protocol

from dens.config.entry_points import OutsidePackageError, described, members
from dens.config.problems import DocumentError, Problem
from dens.config.refusal import Refusal
from dens.node.sources.execution import Pair
from dens.node.sources.recording import Recording, recorded_columns
from knowledge_manager.dictionary.extract import CONTENT_TYPES, PROTOCOLS
from knowledge_manager.vocabulary.event_class import EventClass
from plugins.readings import ExactReading

ENTRY_POINT_GROUP: Final = "dens.sources"


class Source(Protocol):
    """Yields readings of one event class. It is created before it is needed, so creation must be cheap."""

    @property
    def attributes(self) -> Sequence[str]:
        """Return the names of the attributes that it fills."""
        ...

    @property
    def is_over(self) -> bool:
        """Return whether there will never be another reading; True for a file that was read to its end."""
        ...

    def start(self) -> None:
        """Start, because a subscription needs it; raise if that fails. It may have run before."""
        ...

    def read_into(self, reading: ExactReading, stamp_s: int) -> bool:
        """Fill the reading with the next event; return whether there was one. It must not block. The caller
        numbers the reading.
        """
        ...

    def stop(self) -> None:
        """Stop, because no subscription needs it any more."""
        ...


@dataclass(frozen=True, slots=True)
class SourceOrder:
    """Arguments for creating a source."""

    place: str
    """Its location as given by the user: a file, a device, an address."""
    event: EventClass
    ignored: frozenset[str]
    """Names of columns to ignore."""
    tell: Callable[[Problem], None]
    """Receives the problems of values that cannot be used."""
    counters: dict[str, int]
    """The watchdog's: `missing` and `clipped`."""


@dataclass(frozen=True, slots=True)
class SourceKind:
    """A class of sources. `make` raises `Refusal` for a place that cannot be used."""

    name: str
    protocol: str
    content_type: str
    about: str
    make: Callable[[SourceOrder], Source]

    @property
    def pair(self) -> Pair:
        """Return its key in the registry."""
        return self.protocol, self.content_type


def _recording(order: SourceOrder) -> Recording:
    columns = recorded_columns(order.place, order.event, order.ignored)
    return Recording(columns, order.event, order.tell, order.counters)


BUILT_IN: Final = (SourceKind("csv", "file", "text/csv", "a recording, one reading per line", _recording),)


def source_kinds(found: Iterable[EntryPoint] | None = None) -> dict[Pair, SourceKind]:
    """Return every kind by protocol and content type; one that cannot be used raises `OutsidePackageError`.

    `found` replaces the installed entry points when given.
    """
    known = {kind.pair: kind for kind in BUILT_IN}
    wanted = f"a {SourceKind.__name__} of {SourceKind.__module__}"
    for entry, kind in members(ENTRY_POINT_GROUP, "source", _is_kind, wanted, found):
        if kind.protocol not in PROTOCOLS or kind.content_type not in CONTENT_TYPES:
            reason = f"({kind.protocol}, {kind.content_type}) has no code; see 'dens help knowledge'"
            raise OutsidePackageError(f"{described('source', entry)}: {reason}")
        if kind.pair in known:
            reason = f"({kind.protocol}, {kind.content_type}) is read by {known[kind.pair].name} already"
            raise OutsidePackageError(f"{described('source', entry)}: {reason}")
        known[kind.pair] = kind
    return known


def _is_kind(member: object) -> bool:
    return isinstance(member, SourceKind)


def made_source(kind: SourceKind, order: SourceOrder) -> Source:
    """Return a new source. Any exception but a refusal is a defect of its package."""
    try:
        return kind.make(order)
    except (Refusal, DocumentError):
        raise
    except Exception as error:
        reason = f"it raised {type(error).__name__}: {error}; fix or remove its package"
        raise OutsidePackageError(f"source {kind.name} cannot be made: {reason}") from error


def source_kind(protocol: str, content_type: str) -> SourceKind:
    """Return the kind for a protocol and content type, or raise `Refusal`."""
    known = source_kinds()
    if (protocol, content_type) not in known:
        there = "; ".join(f"{one}, {other or 'no content type'}" for one, other in known)
        raise Refusal(
            f"nothing here reads protocol {protocol} with {content_type or 'no content type'}; there is: "
            f'{there}. A package can bring more ("dens help extending")'
        )
    return known[protocol, content_type]
