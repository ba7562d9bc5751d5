"""The tables of docs/how-to/boards.md that `dens board budget` measures, between marks, so that they can be
renewed.

<!-- dens board budget: algorithms -->
| … |
<!-- end -->
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from dens.config.refusal import Refusal

__all__ = ["with_tables"]

Figures = Mapping[str, Any]

_SHOWN: Final = 50
"""The number of subscriptions whose costs the page shows."""


def with_tables(page: str, measured: Mapping[str, Figures]) -> str:
    """Return a page with its marked tables made of what `dens.boards.costs.budget.budgets` measured; a page
    without
    marks is refused.
    """
    for name, table in TABLES.items():
        begin, end = f"<!-- dens board budget: {name} -->\n", "<!-- end -->\n"
        start = page.find(begin)
        if start < 0 or end not in page[start:]:
            raise Refusal(
                f"the page has no {begin.strip()} … {end.strip()}; put the two lines where the table goes"
            )
        start += len(begin)
        lines = table(measured["microbit"])
        page = page[:start] + "".join(f"{line}\n" for line in lines) + page[page.index(end, start) :]
    return page


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _head(first: str, columns: Sequence[str]) -> Iterator[str]:
    yield _row(first, *columns)
    yield _row("---", *("---:" for _ in columns))


def _thousands(figure: int) -> str:
    return f"{round(figure, -3):,}"


def _algorithms(microbit: Figures) -> Iterator[str]:
    """What each algorithm costs."""
    costs = {(cost["algorithm"], cost["equals"]): cost for cost in microbit["algorithms"]}
    names = list(dict.fromkeys(name for name, _ in costs))

    def reading(load: Figures) -> str:
        return _with_held(load, load["instructions_per_reading"])

    def entry(load: Figures) -> str:
        return _with_held(load, load["instructions_per_entry"])

    def cells(equals: str, similarity: float, figure: Callable[[Figures], str]) -> list[str]:
        return [
            figure(load)
            for name in names
            for load in costs[name, equals]["loads"]
            if (load["subscriptions"], load["similarity"]) == (_SHOWN, similarity)
        ]

    yield from _head("", names)
    yield _row(
        "bytes of a three-attribute subscription",
        *(f"{costs[name, 'own']['record_bytes']}" for name in names),
    )
    for equals, words in (
        ("own", "heap of the filter and the program that measures"),
        ("one", "… with equals as one record"),
    ):
        yield _row(words, *(f"{costs[name, equals]['heap_bytes']:,}" for name in names))
    yield _row(f"instructions for a reading, {_SHOWN} subscriptions, none equal", *cells("own", 0.0, reading))
    yield _row("… half of them equal", *cells("own", 0.5, reading))
    yield _row("… 96 % equal", *cells("own", 0.96, reading))
    yield _row("… 96 % equal, as one record", *cells("one", 0.96, reading))
    yield _row(f"instructions to enter one of {_SHOWN}, none equal", *cells("own", 0.0, entry))


def _with_held(load: Figures, figure: int) -> str:
    """Return a figure, and for how many subscriptions where there was no room for all of them."""
    held = load["held"]
    return _thousands(figure) + (f" ({held} held)" if held < load["subscriptions"] else "")


def _forms(microbit: Figures) -> Iterator[str]:
    """What a micro:bit without its link pays for patterns or functions."""
    costs = {(cost["forms"], cost["algorithm"]): cost for cost in microbit["forms"]}
    forms = list(dict.fromkeys(form for form, _ in costs))
    algorithms = list(dict.fromkeys(algorithm for _, algorithm in costs))

    def rows(words: str, figure: Callable[[Figures], str]) -> Iterator[str]:
        for position, algorithm in enumerate(algorithms):
            first = f"… {algorithm}" if position else f"{words}, {algorithm}"
            yield _row(first, *(figure(costs[form, algorithm]) for form in forms))

    yield from _head("", forms)
    yield from rows(
        "heap of the filter and the program that measures", lambda cost: f"{cost['heap_bytes']:,}"
    )
    yield from rows(
        "resident plain subscriptions of three attributes", lambda cost: f"{cost['resident_subscriptions']:,}"
    )
    yield from rows(
        "instructions for one of ten that is refused",
        lambda cost: "; ".join(f"{_thousands(spent)} {name}" for name, spent in cost["instructions"].items()),
    )


def _filter(microbit: Figures) -> Iterator[str]:
    """What the filter costs, beside what is wanted of it."""
    spent = microbit["instructions"]
    means = [spent[name] for name in spent if name not in ("min", "max")]
    mpy = "–" if microbit["mpy_bytes"] is None else f"{microbit['mpy_bytes']:,}"
    yield _row("figure", "measured", "wanted")
    yield _row("---", "---:", "---:")
    yield _row("bytes of a three-attribute subscription", f"{microbit['bytes_per_subscription']}", "22")
    yield _row("bytes allocated for a reading", f"{microbit['bytes_per_reading']}", "0")
    yield _row(
        "instructions for a subscription that is refused, min", f"{round(spent['min'], -1):,}", "5,000"
    )
    yield _row("… max", f"{round(spent['max'], -1):,}", "7,000")
    yield _row("… product, means", f"{round(min(means), -1):,} … {round(max(means), -1):,}", "12,000")
    yield _row("filter as `.mpy` (1.29, `-O3`)", mpy, "4,096")
    yield _row("heap of the core", f"{microbit['heap_import_bytes']:,}", "2,048")
    yield _row("heap of the whole filter, with its objects", f"{microbit['heap_filter_bytes']:,}", "–")
    yield _row("resident subscriptions", f"{microbit['resident_subscriptions']}", "250")


TABLES: Final[Mapping[str, Callable[[Figures], Iterator[str]]]] = {
    "forms": _forms,
    "algorithms": _algorithms,
    "filter": _filter,
}
