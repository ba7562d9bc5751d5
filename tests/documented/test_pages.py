"""Pages of documentation: their size, their lines and their links."""

import re
import tomllib
from pathlib import Path

import pytest

from dens.app.tools.pages import guides
from tests.paths import DOCS, ROOT

COUNTED = [
    *(DOCS / name for name in ("README.md", "tutorial.md")),
    *(path for kind in ("how-to", "reference", "explanation") for path in sorted((DOCS / kind).glob("*.md"))),
]
"""Tutorial, guides, reference and explanation; decisions, error pages and pages on papers are not counted."""
TOP = [
    ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
]
PAGES = sorted(path for path in (*DOCS.rglob("*.md"), *TOP) if path.name != "measurements.md")
MOST_WORDS = 45_000
LONGEST_LINE = 400
SECOND_SENTENCE = re.compile(r"[a-z0-9)][.] [A-Z][a-z]")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def slugs(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def prose(text: str) -> list[str]:
    """Return the lines outside of code, tables and headings, without inline code, links and emphasis."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    lines = [line for line in text.splitlines() if not line.startswith(("    ", "|", "#"))]
    return [re.sub(r"`[^`]*`|\]\([^)]*\)|\*+[^*]+\*+|\([^)]*\)|\"[^\"]*\"", "x", line) for line in lines]


def test_guides_and_reference_stay_short() -> None:
    words = {path.stem: len(path.read_text("utf-8").split()) for path in COUNTED}
    assert sum(words.values()) <= MOST_WORDS, words


@pytest.mark.parametrize("page", [*COUNTED, ROOT / "README.md", ROOT / "ARCHITECTURE.md"], ids=named)
def test_a_line_has_one_sentence(page: Path) -> None:
    lines = prose(page.read_text("utf-8"))
    assert [line for line in lines if SECOND_SENTENCE.search(line)] == []
    assert [line for line in lines if len(line) > LONGEST_LINE] == []


def test_the_line_test_finds_a_second_sentence() -> None:
    (line,) = prose("A line ends. Another begins.\n")
    assert SECOND_SENTENCE.search(line)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    for link, anchor in re.findall(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)", page.read_text("utf-8")):
        if "://" not in link:
            target = page.parent / link if link else page
            assert target.exists(), link
            assert not anchor or anchor in slugs(target), (link, anchor)


def test_table_of_contents_lists_every_page() -> None:
    text = (DOCS / "README.md").read_text("utf-8")
    missing = [name for name in guides() if name != "measurements" and f"- [{name}](" not in text]
    assert missing == []


def test_pages_named_in_code_exist() -> None:
    folders = ("dens", "plugins", "watchdog", "emulation", "knowledge_manager", "spark_analysis", "tests")
    sources = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    pages = {page for path in sources for page in re.findall(r"docs/[\w/-]+\.md", path.read_text("utf-8"))}
    assert len(pages) > 20
    assert [page for page in sorted(pages) if not (ROOT / page).is_file()] == []


def test_readme_and_architecture_are_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 120
    assert len((ROOT / "ARCHITECTURE.md").read_text("utf-8").splitlines()) <= 100


def test_changelog_entries_have_at_most_two_lines() -> None:
    entries = re.findall(r"^- .*(?:\n  .*)*", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert len(entries) > 50
    assert [entry for entry in entries if entry.count("\n") > 1] == []


def test_package_is_described_as_in_the_readme() -> None:
    described = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["description"]
    assert f"**{described}.**" in (ROOT / "README.md").read_text("utf-8")
