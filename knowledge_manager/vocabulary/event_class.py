"""Event classes, attributes, domains, value lists and terms.

Plain data that `reader` has validated.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from dens.config.problems import did_you_mean, likely_meant, listed
from knowledge_manager.vocabulary.terms import Term

if TYPE_CHECKING:
    from knowledge_manager.vocabulary.graph_class import GraphClass

NOTIFICATION_LIFETIME_S: Final = 3600
"""Default notification lifetime of an event class."""

AttributeType = Literal["number", "nominal", "time", "date"]


class UnknownName(LookupError):
    """An unknown name or index. The message lists the known ones and suggests the likely one."""

    def __init__(self, what: str, name: str, known: list[str], of: str = "", most: int = 8) -> None:
        owner = f" of {of}" if of else ""
        hint = did_you_mean(name, known)
        super().__init__(f'{what} "{name}"{owner} is unknown ({listed(known, most)}){hint}')
        self.meant = likely_meant(name, known)


@dataclass(frozen=True, slots=True)
class Attribute:
    """A measured quantity. Its domain is in scaled integers: 36.65 with two decimals is 3665.

    The domain of a nominal attribute is the positions in its value list. Time of day is in seconds, a date in
    days since 1970-01-01. `breakpoints` are the inner points of a scale
    (`knowledge_manager.vocabulary.scales`) as (scaled value, byte); without any the 256 bytes are spread
    evenly.
    """

    name: str
    index: int
    type: AttributeType
    lo_scaled: int
    hi_scaled: int
    decimals: int
    unit: str
    values: tuple[str, ...] = ()
    terms: Mapping[str, Term] = field(default_factory=dict)
    about: str = ""
    breakpoints: tuple[tuple[int, int], ...] = ()

    @property
    def inner(self) -> tuple[int, ...]:
        """Return the breakpoints as `watchdog.normalise` takes them: value, byte, value, byte …"""
        return tuple(number for breakpoint_ in self.breakpoints for number in breakpoint_)

    @property
    def lo(self) -> float:
        """Return the lower end of the domain, in the attribute's unit."""
        return float(self.lo_scaled / 10**self.decimals)

    @property
    def hi(self) -> float:
        """Return the upper end of the domain, in the attribute's unit."""
        return float(self.hi_scaled / 10**self.decimals)


@dataclass(frozen=True, slots=True)
class EventClass:
    """A kind of reading that a publisher can produce."""

    name: str
    index: int
    attributes: tuple[Attribute, ...]
    location: tuple[str, str] | None = None
    places: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    about: str = ""
    notification_lifetime_s: int = NOTIFICATION_LIFETIME_S
    """Rounded up to a lifetime code when it is transmitted."""

    def attribute(self, name: str) -> Attribute:
        """Return the attribute of that name, or raise `UnknownName`."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise UnknownName("attribute", name, [a.name for a in self.attributes], self.name)

    def attribute_at(self, index: int) -> Attribute:
        """Return the attribute of that index, or raise `UnknownName`."""
        for attribute in self.attributes:
            if attribute.index == index:
                return attribute
        known = [str(attribute.index) for attribute in self.attributes]
        raise UnknownName("attribute index", str(index), known, self.name)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The event classes and graph classes of one file."""

    name: str
    version: int
    feature_bytes: int
    events: tuple[EventClass, ...]
    about: str = ""
    graphs: "tuple[GraphClass, ...]" = ()
