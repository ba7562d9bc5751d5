"""Every error code: a page that explains it, a golden message, and no code that is only in one of both."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dens.app.subscriptions.checker import Checker
from dens.config.problems import DocumentError, Problem
from dens.config.reading import read_document
from knowledge_manager.mission_table import MissionTable, load_mission_table
from knowledge_manager.vocabulary.vocabulary import check_vocabulary_file, load_vocabulary
from plugins.atopss.authoring.atopss_authoring import AtopssAuthoring
from plugins.authoring import Authoring, CompileOptions
from plugins.authoring.output.vector_lines import check_vector_file
from plugins.boxes.authoring.boxes_authoring import BoxesAuthoring
from plugins.composite.authoring.composite_authoring import CompositeAuthoring
from plugins.composite.prediction.model import Counted, Model, subject_of
from plugins.composite.vectors import decode_body
from plugins.fuzzy.authoring.compiler import compile_subscription
from plugins.fuzzy.authoring.fuzzy_authoring import FuzzyAuthoring
from plugins.fuzzy.language import FUZZY
from plugins.gtopss.authoring.graph_authoring import GraphAuthoring
from plugins.gtopss.authoring.publications import publication_of
from plugins.registry import term_fault
from tests.paths import ROOT

GOLDEN = Path(__file__).parent / "golden" / "errors"
SOURCES = sorted(path for path in GOLDEN.iterdir() if path.suffix != ".txt")
SHIPPED = ["medical", "weather", "fire", "reports"]
OF_THE_WHOLE = ("D503", "D504", "D522")
"""What trips a parser, is too large or is damaged has no line."""


@pytest.fixture(scope="module")
def table() -> MissionTable:
    return load_mission_table(SHIPPED)


def codes_in_code() -> set[str]:
    rooms = ("dens/config", "knowledge_manager", "plugins")
    files = [path for room in rooms for path in (ROOT / room).rglob("*.py")]
    files.append(ROOT / "dens" / "app" / "subscriptions" / "board_check.py")
    files.extend((ROOT / "dens" / "boards").rglob("*.py"))
    files.extend((ROOT / "emulation").rglob("plan_file.py"))
    files.extend((ROOT / "spark_analysis" / "graphs").glob("*.py"))
    files.extend((ROOT / "dens").rglob("*graph*.py"))
    files.extend((ROOT / "dens" / "app" / "graphs").glob("*.py"))
    return {code for path in files for code in re.findall(r'"(D\d{3})"', path.read_text("utf-8"))}


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    pages = {path.stem for path in (ROOT / "docs" / "errors").glob("D*.md")}
    assert codes_in_code() <= pages
    own = {code for code in codes_in_code() if not code.startswith(("D38", "D39", "D7"))}
    others = ("D3", "D7")
    assert {page for page in pages if not page.startswith(others)} == own, "D38x, D39x are of other files"


@pytest.mark.parametrize("code", sorted(codes_in_code()))
def test_page_says_what_it_is(code: str) -> None:
    lines = (ROOT / "docs" / "errors" / f"{code}.md").read_text("utf-8").splitlines()
    assert lines[0].startswith(f"# {code}: ")
    assert any(line.startswith("    ") for line in lines), "a page shows an example"


def _authoring(path: Path) -> Authoring:
    """Return the language of a document that may be too broken to say it."""
    text = path.read_bytes()
    composite = CompositeAuthoring(FuzzyAuthoring(), FUZZY.matcher, *FUZZY.namespaces)
    others = {"approximate": AtopssAuthoring(), "boxes": BoxesAuthoring(), "composite": composite}
    others["graph"] = GraphAuthoring()
    return next((others[name] for name in others if f"urn:dens:{name}:1".encode() in text), FuzzyAuthoring())


def problems_of(path: Path, table: MissionTable) -> list[Problem]:
    checks: dict[str, Callable[[], list[Problem]]] = {
        ".xml": lambda: _authoring(path).check(read_document(path), str(path), table),
        ".toml": lambda: check_vocabulary_file(path, term_fault),
        ".hex": lambda: check_vector_file(path, FuzzyAuthoring().describe, table),
        ".rq": lambda: GraphAuthoring().check(read_document(path), str(path), table),
    }
    return checks.get(path.suffix, lambda: Checker([path], ["reports"], None).problems())()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_golden_message(path: Path, table: MissionTable, request: pytest.FixtureRequest) -> None:
    problems = problems_of(path, table)
    text = "".join(str(problem).replace(str(path), path.name) + "\n" for problem in problems)
    expected = path.with_suffix(".txt")
    if request.config.getoption("--renew-golden", default=False):
        expected.write_text(text, "utf-8")
    assert text == expected.read_text("utf-8")
    assert path.stem in {problem.code for problem in problems}
    placed = path.suffix != ".hex" and path.stem not in OF_THE_WHOLE
    assert all(problem.line > 0 and problem.column > 0 for problem in problems if placed)


def code_of(act: Callable[[], object]) -> str:
    with pytest.raises(DocumentError) as raised:
        act()
    assert len(raised.value.problems) >= 1
    return raised.value.problems[0].code


_OTHERS = (
    "D22",
    "D38",
    "D39",
    "D403",
    "D404",
    "D523",
    "D524",
    "D525",
    "D526",
    "D527",
    "D528",
    "D529",
    "D70",
    "D71",
)


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
    composites = CompositeAuthoring(FuzzyAuthoring(), FUZZY.matcher, *FUZZY.namespaces)

    def with_model(*states: tuple[int, int, int]) -> None:
        """Compile a composite with a model that counted these states: mask, visits, completions."""
        calm = (
            b'<composite xmlns="urn:dens:composite:1" window="PT10M"><primitive name="low" event="patient">'
            b'<crisp-predicate attribute="oxygen_saturation" operator="le">90</crisp-predicate></primitive>'
            b'<pattern>low; low</pattern><predict probability="0.8" within="5"/></composite>'
        )
        document = tmp_path / "predicts.xml"
        bare = decode_body(composites.compile(calm, str(document), table).body, table.feature_bytes)
        counted = Counted()
        for mask, visits, completions in states:
            counted.note(mask, 0, completed=True, times=completions)
            counted.note(mask, 0, completed=False, times=visits - completions)
        assert bare.prediction is not None
        horizon = bare.prediction.unit, bare.prediction.horizon
        model = Model(subject_of(bare, table.feature_bytes), *horizon, counted)
        (tmp_path / "own.model").write_bytes(model.written())
        wanted = calm.replace(b'within="5"', b'within="5" model="own.model"')
        composites.compile(wanted, str(document), table, CompileOptions(strict=True))

    special = {
        "D246": lambda: with_model(),
        "D253": lambda: with_model((1, 100, 3)),
        "D001": lambda: read_document(tmp_path / "missing.xml"),
        "D002": lambda: read_document(tmp_path),
        "D003": lambda: read_document(large),
        "D129": lambda: compile_subscription(shifted, "f", table, CompileOptions(tolerance=0.0001)),
        "D722": lambda: compile_subscription(
            own_aggregator, "f", table, aggregators={"harmonic": lambda degrees: degrees[0]}
        ),
        "D204": lambda: load_vocabulary("medicine"),
        "D508": lambda: publication_of(frozenset(), "f", load_mission_table(["medical"])),
        "D214": lambda: load_mission_table(["medical", copy]),
    }
    assert {code: code_of(act) for code, act in special.items()} == {code: code for code in special}
    own = {code for code in codes_in_code() if not code.startswith(_OTHERS)}
    assert own == {path.stem for path in SOURCES} | set(special), (
        "D22x, the thesaurus's, D38x, folders', D39x, matching's, D403, D523 to D529, feeds' and "
        "indexes', D70x and D71x, boards', and D404, fault plans', have other tests"
    )


def test_all_problems_of_a_file_are_reported_at_once(table: MissionTable) -> None:
    found = {problem.code for problem in problems_of(GOLDEN / "D112.xml", table)}
    assert found == {"D112"}
    assert len(problems_of(GOLDEN / "D119.xml", table)) == 2
