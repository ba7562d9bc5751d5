"""Files are refused with a place, a code and a hint, and never in another way."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.config.problems import DocumentError, Problem, did_you_mean, listed, nearest
from dens.config.reading import decode_text, place_of, read_document, read_text


def test_a_problem_reads_like_a_compiler_message() -> None:
    problem = Problem("sub.xml", 2, 48, "error", "D102", 'term "hihg" is unknown')
    assert str(problem) == 'sub.xml:2:48: error D102: term "hihg" is unknown'
    assert str(Problem("x", 0, 0, "warning", "D151", "m")) == "x: warning D151: m"


def test_an_error_holds_all_problems_once_in_the_order_of_the_file() -> None:
    late, early = (Problem("f", line, 1, "error", "D105", "m") for line in (9, 2))
    assert DocumentError([late, early, late]).problems == (early, late)


@pytest.mark.parametrize(
    ("word", "expected"), [("hihg", "high"), ("HIGH", "high"), ("very_hihg", "very_high"), ("zebra", None)]
)
def test_nearest(word: str, expected: str | None) -> None:
    assert nearest(word, ["low", "high", "very_high"]) == expected
    assert did_you_mean(word, ["low", "high", "very_high"]) == (
        f'; did you mean "{expected}"?' if expected else ""
    )


def test_long_lists_are_cut() -> None:
    assert listed([str(n) for n in range(20)], 3) == "0, 1, 2, … (20 in all)"


@given(st.text(), st.integers(0, 200))
def test_place_counts_lines_and_columns(text: str, index: int) -> None:
    index = min(index, len(text))
    line, column = place_of(text, index)
    lines = text.split("\n")
    assert sum(len(earlier) + 1 for earlier in lines[: line - 1]) + column - 1 == index


@given(st.binary(max_size=200))
def test_any_bytes_are_text_or_refused(content: bytes) -> None:
    try:
        content.decode()
        is_text = b"\0" not in content
    except UnicodeDecodeError:
        is_text = False
    if is_text:
        assert decode_text(content, "f").encode() == content.removeprefix(b"\xef\xbb\xbf")
    else:
        with pytest.raises(DocumentError, match="D004"):
            decode_text(content, "f")


def test_a_file_that_is_almost_there_is_suggested(tmp_path: Path) -> None:
    (tmp_path / "fever.xml").write_text("<a/>")
    assert read_text(tmp_path / "fever.xml") == "<a/>"
    with pytest.raises(DocumentError, match=r'D001: file not found \(did you mean "fever.xml"\?\)'):
        read_text(tmp_path / "fevre.xml")
    with pytest.raises(DocumentError, match="D002"):
        read_document(Path("a\0b"))
