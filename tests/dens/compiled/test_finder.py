"""Compiled modules are used only for the source that they were compiled from."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.compiled import Record, choose_form, digest_files, read_record, record_file

FILES = ["dens/overlay/session/engine.py", "dens/overlay/wire/item.py", "requirements/compile.txt"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"the text of {name}\n")
    return tmp_path


def record_of(project: Path) -> Record:
    return Record(
        "folder",
        {"dens.overlay.session.engine": "dens/overlay/session/engine.so"},
        FILES,
        digest_files(project, FILES),
    )


def test_the_text_as_it_was_compiled_is_used_compiled(project: Path) -> None:
    assert choose_form(record_of(project), "", project).is_compiled
    assert choose_form(record_of(project), "0", project).is_compiled


@pytest.mark.parametrize("name", FILES)
def test_no_changed_file_is_shadowed(project: Path, name: str) -> None:
    record = record_of(project)
    before = (project / name).read_bytes()
    (project / name).write_bytes(before.replace(b"text", b"Text"))
    form = choose_form(record, "", project)
    assert not form.is_compiled
    assert "changed" in form.why
    assert form.advice == ""
    (project / "Makefile").touch()
    assert choose_form(record, "", project).advice == "make compiled"
    (project / name).unlink()
    assert not choose_form(record, "", project).is_compiled
    (project / name).write_bytes(before)
    assert choose_form(record, "", project).is_compiled


def test_what_moves_from_one_file_to_the_next_is_a_change(project: Path) -> None:
    record = record_of(project)
    one, other = project / FILES[0], project / FILES[1]
    one.write_bytes(one.read_bytes() + other.read_bytes())
    other.write_bytes(b"")
    assert not choose_form(record, "", project).is_compiled


def test_pure_python_can_be_requested(project: Path) -> None:
    form = choose_form(record_of(project), "1", project)
    assert not form.is_compiled
    assert form.why == "DENS_PURE is set"


def test_what_was_never_compiled_is_pure(project: Path) -> None:
    assert read_record(project) is None
    assert not choose_form(None, "", project).is_compiled


def test_a_record_is_read_as_it_was_written(project: Path) -> None:
    record_file(project).write_text(json.dumps(asdict(record_of(project))))
    assert read_record(project) == record_of(project)


documents = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["folder", "modules", "sources", "digest"]), inner, max_size=4)
    ),
)


@given(st.binary(max_size=20) | documents.map(lambda one: json.dumps(one).encode()))
def test_whatever_stands_in_the_record_nothing_is_raised(tmp_path_factory, said: bytes) -> None:
    place = tmp_path_factory.mktemp("place")
    record_file(place).write_bytes(said)
    found = read_record(place)
    assert found is None or not choose_form(found, "", place).is_compiled
