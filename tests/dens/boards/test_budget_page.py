"""The tables of docs/how-to/boards.md are what `dens board budget` measures."""

import pytest

from dens.boards.costs.budget import budgets
from dens.boards.costs.budget_page import TABLES, with_tables
from dens.config.refusal import Refusal
from tests.dens.boards.install import cross_compiler
from tests.paths import ROOT


@pytest.mark.board
@pytest.mark.slow
def test_the_page_has_what_is_measured() -> None:
    page = (ROOT / "docs/how-to/boards.md").read_text(encoding="utf-8")
    assert with_tables(page, budgets(cross_compiler("1.29"))).splitlines() == page.splitlines()


def load(count: int, similarity: float, held: int) -> dict[str, object]:
    return {
        "subscriptions": count,
        "similarity": similarity,
        "held": held,
        "instructions_per_reading": 1000 * held,
        "instructions_per_entry": 2000,
    }


MICROBIT = {
    "bytes_per_subscription": 22,
    "bytes_per_reading": 0,
    "mpy_bytes": None,
    "heap_import_bytes": 1,
    "heap_filter_bytes": 2,
    "resident_subscriptions": 3,
    "instructions": {"min": 5373, "max": 8793, "product": 5445, "arithmetic_mean": 5456},
    "algorithms": [
        {
            "algorithm": "fnif",
            "equals": equals,
            "heap_bytes": 4400,
            "record_bytes": 24,
            "loads": [load(count, alike, 35) for count in (10, 50) for alike in (0.0, 0.5, 0.96)],
        }
        for equals in ("own", "one")
    ],
    "forms": [
        {
            "forms": "patterns",
            "algorithm": "fnif",
            "heap_bytes": 4736,
            "resident_subscriptions": 142,
            "instructions": {"and": 68332},
        }
    ],
}


def test_tables_stand_between_their_marks_and_nothing_else_changes() -> None:
    empty = "".join(f"before\n<!-- dens board budget: {name} -->\n<!-- end -->\nafter\n" for name in TABLES)
    page = with_tables(empty, {"microbit": MICROBIT})
    assert with_tables(page, {"microbit": MICROBIT}) == page
    assert [line for line in page.splitlines() if not line.startswith("|")] == empty.splitlines()
    assert "| … max | 8,790 | 7,000 |" in page
    assert "| instructions for a reading, 50 subscriptions, none equal | 35,000 (35 held) |" in page
    assert "| resident plain subscriptions of three attributes, fnif | 142 |" in page


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(Refusal, match="dens board budget: forms"):
        with_tables("nothing", {"microbit": MICROBIT})
