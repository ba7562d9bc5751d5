"""The scanner finds every key that tomllib reads, at the place where it is written."""

import tomllib
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dens.config.problems import DocumentError
from dens.config.toml_documents import (
    SchemaCodes,
    key_path,
    keys_at,
    parse_toml,
    problems_from_pydantic,
    read_model,
)
from dens.config.toml_positions import Path, locate

DOCUMENT = '''\
# a comment with = and [brackets]
title = "a # no comment ] }" # one
"quoted key" = 'raw \\'
dotted.inner."x.y" = 1
long = """
[not.a.table]
x = 1 \\""" still
"""
dates = [2026-01-01, 2026-02-01] # two

[table]
inline = { a = 1, b = { c = [1, [2, 3]], d = "}" } }

  [table.deeper]
  list = [
    "one", # first
    { two = 2 },
  ]

[[event]]
name = "first"
  [[event.attribute]]
  name = "a"
  [[event.attribute]]
  name = "b"
  terms.high = { trapezoidal = { left = 1.5 } }
[[event]]
name = "second"
  [[event.attribute]]
  name = "c"
[event.extra]
z = 1
'''


def paths_of(value: Any, path: Path = ()) -> Iterator[Path]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths_of(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from paths_of(inner, (*path, number))


def test_every_key_has_a_place_and_nothing_else_has() -> None:
    assert set(locate(DOCUMENT).places) == set(paths_of(tomllib.loads(DOCUMENT)))


@pytest.mark.parametrize(
    ("path", "begins"),
    [
        (("title",), "title"),
        (("quoted key",), '"quoted key"'),
        (("dotted", "inner", "x.y"), "dotted.inner"),
        (("table", "inline", "b", "c", 1, 1), "3]"),
        (("table", "deeper", "list", 1, "two"), "two = 2"),
        (("event", 0, "attribute", 1, "terms", "high", "trapezoidal", "left"), "left = 1.5"),
        (("event", 1, "attribute", 0, "name"), 'name = "c"'),
        (("event", 1, "extra", "z"), "z = 1"),
    ],
)
def test_places_are_where_the_key_is_written(path: Path, begins: str) -> None:
    line, column = locate(DOCUMENT).at(path)
    assert DOCUMENT.splitlines()[line - 1][column - 1 :].startswith(begins)


def test_a_missing_key_is_placed_at_what_encloses_it() -> None:
    positions = locate(DOCUMENT)
    assert positions.at(("event", 1, "missing", "deep")) == positions.at(("event", 1))
    assert positions.at(("nowhere",)) == (1, 1)
    assert positions.known_part(("event", 0, "SomeUnion", "name")) == ("event", 0, "name")


def value_at(document: Any, path: Path) -> Any:
    for key in path:
        document = document[key]
    return document


def test_values_and_keys_are_reported_as_written() -> None:
    positions, document = locate(DOCUMENT), tomllib.loads(DOCUMENT)
    for path, (start, end) in positions.values.items():
        assert tomllib.loads(f"it = {DOCUMENT[start:end]}") == {"it": value_at(document, path)}
    assert {path for path in positions.values if len(path) == 1} == {
        ("title",),
        ("quoted key",),
        ("long",),
        ("dates",),
    }
    for path, written in positions.keys.items():
        if written is not None:
            assert tomllib.loads(f"{DOCUMENT[slice(*written)]} = 1") == {path[-1]: 1}
    assert positions.keys[("event",)] is None, "it is written three times"


def test_a_span_reaches_to_the_end_of_the_value() -> None:
    positions, lines = locate(DOCUMENT), DOCUMENT.splitlines()
    span = positions.span(("title",))
    assert span is not None
    assert lines[span.line - 1][span.column - 1 : span.end_column - 1] == 'title = "a # no comment ] }"'
    span = positions.span(("table", "deeper", "list"))
    assert span is not None
    assert (span.end_line, span.end_column) == (lines.index("  ]") + 1, 4)
    assert positions.span(("nowhere",)) is None


def test_fixes_write_keys_and_strings_as_toml_wants_them() -> None:
    positions = locate(DOCUMENT)
    assert [fix.replacement for fix in positions.renamed(("title",), ["name", "two words", "long"])] == [
        "name",
        '"two words"',
    ], "there is a long already"
    assert positions.renamed(("event",), ["other"]) == ()
    [fix] = positions.replaced(("quoted key",), ['say "æ"'])
    assert (fix.title, fix.replacement) == ('write "say \\"æ\\""', '"say \\"æ\\""')
    assert (fix.span.column, fix.span.end_column) == (16, 23)
    assert positions.replaced(("dates",), ["2026"]) == ()
    assert positions.replaced(("nowhere",), ["x"]) == ()


names = st.from_regex(r"[a-z][a-z0-9_-]{0,6}", fullmatch=True)
scalars = st.one_of(
    st.integers(-99, 99).map(str),
    st.booleans().map(lambda flag: "true" if flag else "false"),
    st.from_regex(r"[a-z #=\[\]{},.]{0,8}", fullmatch=True).map(lambda text: f'"{text}"'),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]"),
        st.dictionaries(names, inner, max_size=3).map(
            lambda table: "{" + ", ".join(f"{key} = {value}" for key, value in table.items()) + "}"
        ),
    ),
    max_leaves=6,
)


@given(st.dictionaries(names, st.dictionaries(names, values, max_size=4), max_size=4))
def test_law_every_path_of_a_random_document_is_found(tables: dict[str, dict[str, str]]) -> None:
    text = "".join(
        f"[{name}]\n" + "".join(f"  {key} = {value} # end\n" for key, value in table.items())
        for name, table in tables.items()
    )
    positions = locate(text)
    expected = set(paths_of(tomllib.loads(text)))
    assert set(positions.places) == expected
    for path in expected:
        line, column = positions.at(path)
        written = text.splitlines()[line - 1][column - 1 :]
        if isinstance(path[-1], str):
            assert written.lstrip("[").startswith(path[-1])


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    speed: float
    unit: str = "m/s"


class Walk(BaseModel):
    model_config = ConfigDict(extra="forbid")
    model: Literal["walk"]
    speed: float


class Stand(BaseModel):
    model_config = ConfigDict(extra="forbid")
    model: Literal["stand"]


class Moving(BaseModel):
    mobility: Annotated[Walk | Stand, Field(discriminator="model")]


def test_paths_do_not_name_the_alternative_that_was_tried() -> None:
    codes = SchemaCodes(unknown_key="D301", missing_key="D302", bad_value="D303")
    with pytest.raises(DocumentError) as raised:
        read_model('mobility = { model = "walk", sped = 3 }\n', "f.toml", Moving, codes)
    assert list(map(str, raised.value.problems)) == [
        'f.toml:1:30: error D301: key "mobility.sped" is unknown; did you mean "speed"?',
    ]


def test_a_misspelt_key_hides_nothing_else() -> None:
    codes = SchemaCodes(unknown_key="D301", missing_key="D302", bad_value="D303")
    text = 'named.a = { sped = "fast", unti = 1 }\nsead = 1\nsalt = 2\n'
    with pytest.raises(DocumentError) as raised:
        read_model(text, "f.toml", Outer, codes)
    found = [(problem.line, problem.column, problem.code) for problem in raised.value.problems]
    assert found[:2] == [(1, 1, "D302"), (1, 13, "D301")], "what is missing, and what is unknown"
    assert (1, 13, "D303") in found, "the value under the misspelt key is judged as well"
    assert {(2, 1, "D301"), (3, 1, "D301")} <= set(found)


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    node: list[Inner]
    named: dict[str, Inner] = {}
    seed: int = 0


def test_pydantic_errors_get_places_paths_and_hints() -> None:
    text = 'sead = 1\n[[node]]\nspeed = "fast"\n[[node]]\nunti = "km/h"\n'
    with pytest.raises(ValidationError) as raised:
        Outer.model_validate(parse_toml(text, "f.toml"))
    codes = SchemaCodes(unknown_key="D301", missing_key="D302", bad_value="D303")
    told = problems_from_pydantic(raised.value, locate(text), "f.toml", codes, Outer)
    found = sorted(str(problem) for _, problem in told)
    assert found == [
        'f.toml:1:1: error D301: key "sead" is unknown; did you mean "seed"?',
        "f.toml:3:1: error D303: node[0].speed: input should be a valid number, "
        "unable to parse string as a number",
        'f.toml:4:1: error D302: key "speed" is missing in node[1]',
        'f.toml:5:1: error D301: key "node[1].unti" is unknown; did you mean "unit"?',
    ]
    assert keys_at(Outer, ("node", 3)) == ["speed", "unit"]
    assert key_path(("event", 0, "attribute", 2, "unit")) == "event[0].attribute[2].unit"
