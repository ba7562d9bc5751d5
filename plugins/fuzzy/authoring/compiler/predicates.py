"""Step 2: document → predicates. Reads the conditions of a subscription, with the mission table.

Each predicate tag has a reader. A new tag is a plug-in: a reader under its own namespace, given to the
compiler or listed in the entry-point group `dens.fuzzy_tags` (the entry's name is the tag,
`{urn:example}near`). A tag without a reader is an error.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Final

from dens.config.entry_points import members
from dens.config.problems import Problem
from plugins.authoring.xml.compiling import refuse_problems
from plugins.authoring.xml.reader import PredicateReader, own_text
from plugins.authoring.xml.root_attributes import read_fifteenths, read_valid
from plugins.authoring.xml.spans import Span
from plugins.authoring.xml.words import ResolvedWord
from plugins.fuzzy import NAMESPACE
from plugins.fuzzy.authoring.compiler.age import read_keep, read_within_last
from plugins.fuzzy.authoring.compiler.aggregators import AggregatingFunctions
from plugins.fuzzy.authoring.compiler.attribute_predicates import read_approximate, read_crisp
from plugins.fuzzy.authoring.compiler.combination import Combination, local_name, read_combination
from plugins.fuzzy.authoring.compiler.constraint_specs import ConstraintSpec
from plugins.fuzzy.authoring.compiler.place import read_within
from plugins.fuzzy.patterns import Joined, Leaf, Not, Pattern, both, short_form
from watchdog.aggregators import AGGREGATOR_NAMES, ANY_ZERO_IS_ZERO, UNMOVED_BY_ONE, WEIGHTED_MEAN

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

TagReader = Callable[["Element", PredicateReader], list[ConstraintSpec]]
"""Reads one element into specs: one for most tags, two for a place, none if it is invalid (which is
reported)."""

TagReaders = Mapping[str, TagReader]
"""Readers by tag, as `{namespace}name`."""

BUILT_IN_TAGS: Final[TagReaders] = {
    f"{{{NAMESPACE}}}approximate-predicate": read_approximate,
    f"{{{NAMESPACE}}}crisp-predicate": read_crisp,
    f"{{{NAMESPACE}}}within": read_within,
    f"{{{NAMESPACE}}}within-last": read_within_last,
}

_COMBINING = ("aggregating-function", "function", "predicate-pattern")


@dataclass(frozen=True, slots=True)
class ParsedSubscription:
    """A parsed subscription. The leaves of `pattern` are ranks: positions in `specs`, which are in attribute
    order.
    """

    event: int
    event_span: Span
    specs: tuple[ConstraintSpec, ...]
    combination: Combination
    pattern: Pattern | None
    threshold: int
    threshold_span: Span
    valid: int
    valid_span: Span
    words: tuple[ResolvedWord, ...]
    warnings: tuple[Problem, ...]


@cache
def registered_tags() -> TagReaders:
    """Return the readers of all tags: the language's own, and those of installed packages."""
    found = members("dens.fuzzy_tags", "the tag", callable, "a function that reads an element")
    return {**{entry.name: reader for entry, reader in found}, **BUILT_IN_TAGS}


def read_predicates(
    reader: PredicateReader, tags: TagReaders, aggregators: AggregatingFunctions | None = None
) -> ParsedSubscription:
    """Return the parsed document. All errors raise one `DocumentError`."""
    document = reader.document
    root = document.root
    threshold_span = document.attribute_span(root, "threshold")
    valid_span = document.attribute_span(root, "valid")
    threshold = read_fifteenths(root.get("threshold"), "threshold", threshold_span, reader)
    valid = read_valid(root.get("valid"), valid_span, reader)
    combination = read_combination(root, reader, aggregators)
    specs, pattern = _Gathering(reader, tags).gather(root, combination)
    refuse_problems(reader)
    return ParsedSubscription(
        event=reader.event.index,
        event_span=document.attribute_span(root, "event"),
        specs=specs,
        combination=combination,
        pattern=pattern,
        threshold=threshold,
        threshold_span=threshold_span,
        valid=valid,
        valid_span=valid_span,
        words=tuple(reader.words.resolved),
        warnings=tuple(reader.problems),
    )


class _Gathering:
    """Collects the specs of all predicates, in document order, and the pattern over them."""

    def __init__(self, reader: PredicateReader, tags: TagReaders) -> None:
        self.reader = reader
        self.tags = tags
        self.specs: list[ConstraintSpec] = []
        self.predicates: list[Pattern] = []

    def gather(
        self, root: "Element", combination: Combination
    ) -> tuple[tuple[ConstraintSpec, ...], Pattern | None]:
        """Return the specs in attribute order, and the pattern over their ranks if there is one."""
        inside = combination.pattern
        tree = self._of_nested(inside) if inside is not None else None
        for child in root:
            if local_name(child) not in _COMBINING and local_name(child) != "within-last":
                if tree is not None:
                    message = "if a <predicate-pattern> nests predicates, all of them must be inside it"
                    self.reader.complain(self.reader.document.span(child), "D120", message)
                self._of_predicate(child)
        if inside is not None and tree is None:
            tree = self._of_short_form(inside)
        ages = self._of_age(root)
        ages += self._of_keep(root, combination, bool(ages))
        self._complain_about_doubles()
        self._warn_of_weights(combination)
        if not self.specs:
            if not self.reader.problems:
                message = "a subscription needs at least one predicate"
                self.reader.complain(self.reader.document.span(root), "D127", message)
            return (), None
        if tree is not None and ages:
            tree = both(tree, ages[0])
        elif ages and not ANY_ZERO_IS_ZERO >> combination.aggregator & 1:
            name = AGGREGATOR_NAMES[combination.aggregator]
            message = f"with {name} an event that is too old has a lower degree, but may still match"
            self.reader.warn(combination.span, "D155", message)
        order = sorted(range(len(self.specs)), key=lambda position: self.specs[position].index)
        rank = {position: number for number, position in enumerate(order)}
        negated = set() if tree is None else _negated(tree)
        specs = tuple(replace(self.specs[position], is_negated=position in negated) for position in order)
        return specs, None if tree is None else _ranked(tree, rank)

    def _of_predicate(self, element: "Element") -> Pattern | None:
        """Read one predicate; return it as a pattern over positions in document order."""
        read = self.tags.get(str(element.tag))
        if read is None:
            span = self.reader.document.span(element)
            self.reader.complain(span, "D110", f"no reader is registered for the tag {element.tag}")
            return None
        first = len(self.specs)
        self.specs.extend(read(element, self.reader))
        leaves = tuple(map(Leaf, range(first, len(self.specs))))
        if not leaves:
            return None
        self.predicates.append(leaves[0] if len(leaves) == 1 else Joined("and", leaves))
        return self.predicates[-1]

    def _of_nested(self, holder: "Element") -> Pattern | None:
        """Return the pattern nested in an element; None if it nests nothing (a short form) or is invalid."""
        children = list(holder)
        if children and own_text(holder):
            message = "a <predicate-pattern> is a short form or nests predicates, not both"
            self.reader.complain(self.reader.document.span(holder), "D121", message)
        return self._of_operand(children[0]) if children else None

    def _of_operand(self, element: "Element") -> Pattern | None:
        name = local_name(element)
        if name not in ("and", "or", "not"):
            return self._of_predicate(element)
        parts = [self._of_operand(child) for child in element]
        present = tuple(part for part in parts if part is not None)
        if not present:
            return None
        if name == "not":
            return Not(present[0])
        return Joined("and" if name == "and" else "or", present)

    def _of_short_form(self, pattern: "Element") -> Pattern | None:
        text = (pattern.text or "").strip()
        span = self.reader.document.text_span(pattern)
        try:
            tree = short_form(text, list(range(len(self.predicates))))
        except ValueError as error:
            if not self.reader.problems:
                self.reader.complain(span, "D121", str(error))
            return None
        return _expanded(tree, self.predicates)

    def _of_age(self, root: "Element") -> list[Pattern]:
        ages = []
        for position, element in enumerate(root.iterchildren(f"{{{NAMESPACE}}}within-last")):
            if position:
                span = self.reader.document.span(element)
                self.reader.complain(span, "D120", "<within-last> occurs twice; keep one")
                continue
            found = self._of_predicate(element)
            ages += [found] if found is not None else []
        return ages

    def _of_keep(self, root: "Element", combination: Combination, has_age: bool) -> list[Pattern]:
        """Read `keep`, which filters by age and must not change a degree."""
        specs = read_keep(root, self.reader)
        if not specs:
            return []
        name = AGGREGATOR_NAMES.get(combination.aggregator, "")
        message = ""
        if has_age:
            message = "keep and <within-last> both limit the age; remove one"
        elif combination.pattern is None and not UNMOVED_BY_ONE >> combination.aggregator & 1:
            message = f"with {name} the age would change the degree; use min, product or a pattern"
        if message:
            self.reader.complain(specs[0].span, "D141", message)
            return []
        self.specs.extend(specs)
        return [Leaf(len(self.specs) - 1)]

    def _warn_of_weights(self, combination: Combination) -> None:
        if combination.aggregator != WEIGHTED_MEAN:
            for spec in self.specs:
                if spec.weight != 1.0:
                    message = f"the weight of {spec.name} has no effect without weighted_mean"
                    self.reader.warn(spec.span, "D157", message)

    def _complain_about_doubles(self) -> None:
        seen: dict[int, ConstraintSpec] = {}
        for spec in self.specs:
            first = seen.setdefault(spec.index, spec)
            if first is not spec:
                has = f"{spec.name} has a predicate already, in line {first.span.line}; only one is allowed"
                message = f"{has}: combine both (between, is-not), or write two subscriptions"
                self.reader.complain(spec.span, "D104", message)


def _ranked(tree: Pattern, rank: dict[int, int]) -> Pattern:
    match tree:
        case Leaf(position):
            return Leaf(rank[position])
        case Not(part):
            return Not(_ranked(part, rank))
        case Joined(connective, parts):
            return Joined(connective, tuple(_ranked(part, rank) for part in parts))


def _negated(tree: Pattern, *, inside: bool = False) -> set[int]:
    """Return the positions of the predicates inside an odd number of `not`s."""
    match tree:
        case Leaf(position):
            return {position} if inside else set()
        case Not(part):
            return _negated(part, inside=not inside)
        case Joined(_, parts):
            return set().union(*(_negated(part, inside=inside) for part in parts))


def _expanded(tree: Pattern, predicates: list[Pattern]) -> Pattern:
    """Replace the numbers of predicates by their patterns."""
    match tree:
        case Leaf(number):
            return predicates[number]
        case Not(part):
            return Not(_expanded(part, predicates))
        case Joined(connective, parts):
            return Joined(connective, tuple(_expanded(part, predicates) for part in parts))
