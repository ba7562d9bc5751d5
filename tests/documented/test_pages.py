"""Pages of documentation: their size, their lines and their links."""

import re
from pathlib import Path

import pytest

from dens.app.tools.pages import guides
from tests.paths import DOCS, ROOT

COUNTED = [
    *DOCS.glob("*.md"),
    *(path for kind in ("how-to", "reference", "explanation") for path in (DOCS / kind).glob("*.md")),
]
"""Tutorial, guides, reference and explanation; decisions, error pages and pages on papers are not counted."""
TOP = [
    ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
]
PAGES = sorted(path for path in (*DOCS.rglob("*.md"), *TOP) if path.name != "measurements.md")
MOST_WORDS = 58_000


def slugs(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_guides_and_reference_stay_short() -> None:
    words = {
        path.stem: len(path.read_text("utf-8").split()) for path in COUNTED if path.name != "measurements.md"
    }
    assert sum(words.values()) <= MOST_WORDS, words


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    for link, anchor in re.findall(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)", page.read_text("utf-8")):
        if "://" not in link:
            target = page.parent / link if link else page
            assert target.exists(), link
            assert not anchor or anchor in slugs(target), (link, anchor)


def test_table_of_contents_lists_every_page() -> None:
    text = (DOCS / "README.md").read_text("utf-8")
    assert [name for name in guides() if f"- [{name}](" not in text] == ["measurements"] * (
        "measurements" in guides()
    )
