"""docs/papers/paper.md: every file that it names exists, every row has a verdict, every figure a row."""

import re

from dens_experiments.fuzzy.paper import FOOTPRINTS
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "papers" / "paper.md").read_text("utf-8")
ROWS = [
    line
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| ---", "| the paper |"))
]


def test_what_is_named_exists() -> None:
    named = set(re.findall(r"`((?:[a-z_]+/)+[\w.]+\.\w+)`", PAGE))
    named |= {f"docs/{path}" for path in re.findall(r"\]\(\.\./(decisions/[\w.-]+\.md)", PAGE)}
    assert len(named) > 100
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_every_row_has_a_verdict() -> None:
    assert len(ROWS) >= 50
    assert [row for row in ROWS if not re.search(r"\| [FDM]\b[^|]*\|$", row)] == []


def test_every_figure_and_equation_has_a_row() -> None:
    panels = [f"figure 7.{letter}" for letter in "abcdefghi"]
    for item in ("figure 1", "figure 2", "figure 3", "figure 4.a", "figure 4.b", "figure 4.c", "figure 4.d",
                 "figure 5.a", "figure 5.b", "figure 5.c", "figure 6", *panels, "equation 1"):  # fmt: skip
        assert f"**{item}**" in PAGE, item


def test_every_section_has_its_part() -> None:
    found = re.findall(r"^## (\d(?:\.\d)?) ", PAGE, re.MULTILINE)
    assert found == ["1", "2", "3", "4", "4.1", "4.2", "4.3", "4.4", "5", "6"]


def test_every_footprint_of_the_paper_stands_beside_ours() -> None:
    for one in FOOTPRINTS:
        [row] = [row for row in ROWS if re.match(rf"\| [^|]*\b{one.low} KB \|", row)]
        assert "KB" in row.split("|")[2] or "nothing" in row.split("|")[2]


def test_links_lead_to_headings() -> None:
    for page, anchor in re.findall(r"\]\(([\w/.-]+\.md)#([\w-]+)\)", PAGE):
        text = (ROOT / "docs" / "papers" / page).read_text("utf-8")
        headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert anchor in slugs, (page, anchor)
