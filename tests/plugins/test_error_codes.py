"""Every error code: a page that explains it, a golden message, and no code that is only in one of both."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from documents.problems import DocumentError, Problem
from documents.reading import read_document
from knowledge_manager.mission_table import MissionTable, load_mission_table
from knowledge_manager.vocabulary import check_vocabulary_file, load_vocabulary
from plugins.authoring.vector_files import check_vector_file
from plugins.fuzzy.authoring.compiler import compile_subscription
from plugins.fuzzy.authoring.fuzzy_authoring import FuzzyAuthoring
from plugins.registry import term_fault
from tests.paths import ROOT

GOLDEN = Path(__file__).parent / "golden" / "errors"
SOURCES = sorted(path for path in GOLDEN.iterdir() if path.suffix != ".txt")
SHIPPED = ["medical", "weather", "fire"]


@pytest.fixture(scope="module")
def table() -> MissionTable:
    return load_mission_table(SHIPPED)


def codes_in_code() -> set[str]:
    rooms = ("documents", "knowledge_manager", "plugins")
    files = [path for room in rooms for path in (ROOT / room).rglob("*.py")]
    files.append(ROOT / "studio" / "board_checking.py")
    files.extend((ROOT / "boards").glob("*.py"))
    files.extend((ROOT / "emulation").rglob("plan_file.py"))
    return {code for path in files for code in re.findall(r'"(D\d{3})"', path.read_text("utf-8"))}


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    pages = {path.stem for path in (ROOT / "docs" / "errors").glob("D*.md")}
    assert codes_in_code() <= pages
    own = {code for code in codes_in_code() if not code.startswith(("D38", "D7"))}
    others = ("D3", "D7")
    assert {page for page in pages if not page.startswith(others)} == own, "D38x are those of runs' folders"


@pytest.mark.parametrize("code", sorted(codes_in_code()))
def test_page_says_what_it_is(code: str) -> None:
    lines = (ROOT / "docs" / "errors" / f"{code}.md").read_text("utf-8").splitlines()
    assert lines[0].startswith(f"# {code}: ")
    assert any(line.startswith("    ") for line in lines), "a page shows an example"


def problems_of(path: Path, table: MissionTable) -> list[Problem]:
    checks: dict[str, Callable[[], list[Problem]]] = {
        ".xml": lambda: FuzzyAuthoring().check(read_document(path), str(path), table),
        ".toml": lambda: check_vocabulary_file(path, term_fault),
        ".hex": lambda: check_vector_file(path, FuzzyAuthoring().describe, table),
    }
    return checks[path.suffix]()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_golden_message(path: Path, table: MissionTable, request: pytest.FixtureRequest) -> None:
    problems = problems_of(path, table)
    text = "".join(str(problem).replace(str(path), path.name) + "\n" for problem in problems)
    expected = path.with_suffix(".txt")
    if request.config.getoption("--renew-golden", default=False):
        expected.write_text(text, "utf-8")
    assert text == expected.read_text("utf-8")
    assert path.stem in {problem.code for problem in problems}
    assert all(problem.line > 0 and problem.column > 0 for problem in problems if path.suffix != ".hex")


def code_of(act: Callable[[], object]) -> str:
    with pytest.raises(DocumentError) as raised:
        act()
    assert len(raised.value.problems) >= 1
    return raised.value.problems[0].code


def test_codes_that_need_more_than_a_file(tmp_path: Path, table: MissionTable) -> None:
    large = tmp_path / "large.xml"
    large.write_bytes(b"<" + b" " * 70_000)
    copy = tmp_path / "copy.toml"
    copy.write_bytes((ROOT / "knowledge_manager" / "vocabularies" / "medical.toml").read_bytes())
    shifted = (GOLDEN / "D160.xml").read_bytes()
    own_aggregator = (
        (GOLDEN / "D721.xml")
        .read_bytes()
        .replace(
            b"<function>heart_rate * oxygen_saturation</function>",
            b"<aggregating-function>harmonic</aggregating-function>",
        )
    )
    special = {
        "D001": lambda: read_document(tmp_path / "missing.xml"),
        "D002": lambda: read_document(tmp_path),
        "D003": lambda: read_document(large),
        "D129": lambda: compile_subscription(shifted, "f", table, tolerance=0.0001),
        "D722": lambda: compile_subscription(
            own_aggregator, "f", table, aggregators={"harmonic": lambda degrees: degrees[0]}
        ),
        "D204": lambda: load_vocabulary("medicine"),
        "D214": lambda: load_mission_table(["medical", copy]),
    }
    assert {code: code_of(act) for code, act in special.items()} == {code: code for code in special}
    own = {code for code in codes_in_code() if not code.startswith(("D22", "D38", "D403", "D404", "D70"))}
    assert own == {path.stem for path in SOURCES} | set(special), (
        "D22x, the thesaurus's, D38x, folders', D403 and D70x, boards', D404, fault plans', have other tests"
    )


def test_all_problems_of_a_file_are_reported_at_once(table: MissionTable) -> None:
    found = {problem.code for problem in problems_of(GOLDEN / "D112.xml", table)}
    assert found == {"D112"}
    assert len(problems_of(GOLDEN / "D119.xml", table)) == 2
