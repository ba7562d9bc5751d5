"""docs/paper.md: every file and test that it names is there, every row has a verdict, every figure a row."""

import re

from tests.paths import ROOT

PAGE = (ROOT / "docs" / "paper.md").read_text("utf-8")
ROWS = [
    line
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| ---", "| the paper |"))
]


def test_what_is_named_exists() -> None:
    named = set(re.findall(r"`((?:[a-z_]+/)+[\w.]+\.\w+)`", PAGE))
    assert len(named) > 30
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_every_row_has_a_verdict() -> None:
    assert len(ROWS) >= 50
    assert [row for row in ROWS if not re.search(r"\| [FDM]\b[^|]*\|$", row)] == []


def test_every_figure_and_equation_of_section_four_has_a_row() -> None:
    for item in ("figure 2", "figure 3", "figure 4.a", "figure 4.b", "figure 4.c", "figure 4.d",
                 "figure 5.a", "figure 5.b", "figure 5.c", "equation 1"):  # fmt: skip
        assert f"**{item}**" in PAGE, item


def test_links_lead_to_headings() -> None:
    for page, anchor in re.findall(r"\]\(([\w/.-]+\.md)#([\w-]+)\)", PAGE):
        text = (ROOT / "docs" / page).read_text("utf-8")
        headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert anchor in slugs, (page, anchor)
