"""What is offered to put a problem right does so: applied to the text, the problem is gone."""

from pathlib import Path

import pytest

from dens.config.problems import Fix, Problem, TextSpan
from knowledge_manager.mission_table import MissionTable, load_mission_table
from knowledge_manager.vocabulary.vocabulary import check_vocabulary_file
from plugins.fuzzy.authoring.fuzzy_authoring import FuzzyAuthoring
from plugins.registry import term_fault

GOLDEN = Path(__file__).parent / "golden" / "errors"
DOCUMENTS = sorted([*GOLDEN.glob("*.xml"), *GOLDEN.glob("*.toml")])
TABLE = load_mission_table(["medical", "weather", "fire"])
HEAD = '<subscription xmlns="urn:dens:subscription:1" event="patient">'


def offset(text: str, line: int, column: int) -> int:
    return sum(len(one) for one in text.splitlines(keepends=True)[: line - 1]) + column - 1


def piece(text: str, span: TextSpan) -> str:
    return text[offset(text, span.line, span.column) : offset(text, span.end_line, span.end_column)]


def applied(text: str, fix: Fix) -> str:
    start, end = (
        offset(text, fix.span.line, fix.span.column),
        offset(text, fix.span.end_line, fix.span.end_column),
    )
    return text[:start] + fix.replacement + text[end:]


def problems_of(text: str, suffix: str, folder: Path, table: MissionTable = TABLE) -> list[Problem]:
    path = folder / f"it{suffix}"
    path.write_text(text, "utf-8", newline="")
    if suffix == ".xml":
        return FuzzyAuthoring().check(path.read_bytes(), str(path), table)
    return check_vocabulary_file(path, term_fault)


def readable(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError:
        return None


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_fix_of_every_error_page_removes_its_problem(path: Path, tmp_path: Path) -> None:
    text = readable(path)
    if text is None:
        assert path.stem == "D004"
        return
    for problem in problems_of(text, path.suffix, tmp_path):
        assert problem.span is None or (problem.span.line, problem.span.column) == (
            problem.line,
            problem.column,
        )
        assert problem.span is not None or not problem.fixes
        for fix in problem.fixes:
            assert problem not in problems_of(applied(text, fix), path.suffix, tmp_path)


def test_suggestions_are_fixes(tmp_path: Path) -> None:
    """Whatever asks `did you mean` among the golden texts can do it."""
    asking: dict[str, bool] = {}
    for path in DOCUMENTS:
        text = readable(path)
        for problem in problems_of(text, path.suffix, tmp_path) if text is not None else ():
            if "did you mean" in problem.message:
                asking[problem.code] = asking.get(problem.code, True) and bool(problem.fixes)
    assert len(asking) >= 8
    assert {code for code, is_fixed in asking.items() if not is_fixed} == set()


def approximate(attribute: str, term: str) -> str:
    return f"<approximate-predicate {attribute}><is>{term}</is></approximate-predicate>"


def crisp(operator: str, value: str) -> str:
    return f'<crisp-predicate attribute="ward" operator="{operator}">{value}</crisp-predicate>'


@pytest.mark.parametrize(
    ("inside", "wrong", "right"),
    [
        (approximate('attribute="hart_rate"', "high"), "hart_rate", "heart_rate"),
        (approximate("attribute = ' hart_rate '", "high"), "hart_rate", "heart_rate"),
        (approximate('attribute="heart_rate"', "\n  hihg "), "hihg", "high"),
        (approximate('atribute="heart_rate"', "high"), "atribute", "attribute"),
        (crisp("eqq", "ICU"), "eqq", "eq"),
        (crisp("eq", "ICV"), "ICV", "ICU"),
    ],
)
def test_a_word_is_replaced_where_it_stands(inside: str, wrong: str, right: str, tmp_path: Path) -> None:
    text = f"{HEAD}<!-- æøå -->{inside}</subscription>"
    found = [fix for problem in problems_of(text, ".xml", tmp_path) for fix in problem.fixes]
    assert [(piece(text, fix.span), fix.replacement) for fix in found] == [(wrong, right)]
    assert problems_of(applied(text, found[0]), ".xml", tmp_path) == []


def test_an_element_is_renamed_at_both_ends(tmp_path: Path) -> None:
    inside = '<aproximate-predicate attribute="heart_rate"><is>high</is></aproximate-predicate >'
    text = f"{HEAD}\n{inside}\n</subscription>"
    [problem] = problems_of(text, ".xml", tmp_path)
    [fix] = problem.fixes
    assert piece(text, fix.span) == inside
    assert problems_of(applied(text, fix), ".xml", tmp_path) == []


@pytest.mark.parametrize(
    "inside",
    [
        '<approximate-predicate attribute="heart&#95;rat"><is>high</is></approximate-predicate>',
        '<approximate-predicate attribute="heart_rate"><is>hi<!-- s -->hg</is></approximate-predicate>',
        '<approximate-predicate attribute="heart_rate"><is><![CDATA[hihg]]></is></approximate-predicate>',
    ],
)
def test_what_cannot_be_replaced_exactly_is_left_alone(inside: str, tmp_path: Path) -> None:
    [problem] = problems_of(f"{HEAD}{inside}</subscription>", ".xml", tmp_path)
    assert "did you mean" in problem.message
    assert problem.fixes == ()


def test_fixes_do_not_affect_equality_of_problems() -> None:
    span = TextSpan(1, 1, 1, 2)
    bare = Problem("f", 1, 1, "error", "D101", "wrong")
    mended = Problem("f", 1, 1, "error", "D101", "wrong", span, (Fix("write x", "x", span),))
    assert bare == mended
    assert len({bare, mended}) == 1
    assert str(bare) == str(mended)


def test_a_location_of_a_vocabulary_is_mended_in_its_list(tmp_path: Path) -> None:
    text = (
        'name = "places"\nversion = 1\n[[event]]\nname = "spot"\nindex = 0\nlocation = ["x", "hight"]\n'
        + "".join(
            f'[[event.attribute]]\nname = "{name}"\nindex = {index}\ndomain = [0, 9]\nunit = "m"\n'
            for index, name in enumerate(("x", "height"))
        )
    )
    [problem] = problems_of(text, ".toml", tmp_path)
    [fix] = problem.fixes
    assert (problem.code, piece(text, fix.span), fix.replacement) == ("D213", '"hight"', '"height"')
    assert problems_of(applied(text, fix), ".toml", tmp_path) == []
