"""Codec tables: texts and spans have exactly the names of a table's fields (decision 0046)."""

import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given

from plugins import board_vectors
from plugins.atopss import vectors as atopss_vectors
from plugins.atopss.authoring import compile as atopss_compile
from plugins.atopss.authoring import describe as atopss_describe
from plugins.atopss.subscriptions import Subscription
from plugins.authoring.output.board_notifications import describe_board_notification
from plugins.boxes import vectors as boxes_vectors
from plugins.boxes.authoring import words as boxes_words
from plugins.codec_table import CodecTable, ReaderTable
from plugins.fuzzy.authoring import describe as fuzzy_describe
from plugins.fuzzy.authoring.compiler import compile_subscription
from tests.paths import ROOT
from tests.plugins.atopss.subscriptions import PUBLICATION, SUBSCRIPTION, subscriptions
from tests.plugins.atopss.test_documentation import TABLE as HOUSING
from tests.plugins.fuzzy.subscriptions import EXAMPLE, TABLE
from watchdog.header import framed

Table = CodecTable[Any] | ReaderTable[Any]

FLAT = (ROOT / "docs/examples/apartment.xml").read_bytes()
BOXES = boxes_vectors.encode_body(boxes_vectors.BoxesBody(0, 0, (((1, 120, 255),),)), 1)
READING = board_vectors.encode_notification(board_vectors.NotificationVector(1, 95, 0, 0, b"\x07", 0, (1,)))


def describe_compiled_fuzzy() -> None:
    made = compile_subscription(EXAMPLE, "example.xml", TABLE)
    fuzzy_describe.describe_vector(framed(0, 0, made.lifetime_q, made.body), TABLE)


USES: dict[str, tuple[Table, Callable[[], object], int]] = {
    "fuzzy": (board_vectors.SUBSCRIPTION, describe_compiled_fuzzy, 2),
    "board notification": (
        board_vectors.NOTIFICATION,
        lambda: describe_board_notification(READING, None),
        1,
    ),
    "boxes": (
        boxes_vectors.SUBSCRIPTION,
        lambda: boxes_words.describe_vector(framed(0, 0, 95, BOXES), None),
        1,
    ),
    "atopss texts": (
        atopss_vectors.SUBSCRIPTION,
        lambda: atopss_describe.describe_vector(SUBSCRIPTION, HOUSING),
        1,
    ),
    "atopss spans": (
        atopss_vectors.SUBSCRIPTION,
        lambda: atopss_compile.compile_subscription(FLAT, "apartment.xml", HOUSING),
        1,
    ),
    "atopss notification": (
        atopss_vectors.NOTIFICATION,
        lambda: atopss_describe.describe_vector(PUBLICATION, HOUSING, "nv"),
        1,
    ),
}
"""Every table, code that annotates it, and with how many mappings."""


@pytest.mark.parametrize("name", USES)
def test_notes_have_the_names_of_the_fields(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing name fails at its use; this also finds names that no field has."""
    table, use, mappings = USES[name]
    annotate = table.annotate
    noted: list[set[str]] = []

    def recording(parts: Any, notes: Mapping[str, Any], *more: int) -> Iterator[tuple[str, bytes, Any]]:
        noted.append(set(notes))
        return annotate(parts, notes, *more)

    monkeypatch.setattr(table, "annotate", recording)
    use()
    names = [field.name for field in table.fields]
    assert len(set(names)) == len(names)
    assert noted == [set(names)] * mappings


def test_every_table_is_compared() -> None:
    """A table is a constant of its module."""
    found = []
    for path in sorted((ROOT / "plugins").rglob("*.py")):
        if re.search(r"^[A-Z_]+: Final\[(Codec|Reader)Table\[", path.read_text("utf-8"), re.M):
            module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
            found += [one for one in vars(module).values() if isinstance(one, CodecTable | ReaderTable)]
    assert len(found) == 5
    assert set(map(id, found)) == {id(table) for table, _, _ in USES.values()}


@given(subscriptions(events=64))
def test_law_annotated_pieces_are_the_body(subscription: Subscription) -> None:
    notes: dict[str, Any] = {field.name: field.name for field in atopss_vectors.SUBSCRIPTION.fields}
    notes["predicate"] = subscription.predicates
    pieces = list(atopss_vectors.SUBSCRIPTION.annotate(subscription, notes))
    assert b"".join(piece for _, piece, _ in pieces) == atopss_vectors.encode_subscription(subscription)
    assert [note for name, _, note in pieces if name == "predicate"] == list(subscription.predicates)
