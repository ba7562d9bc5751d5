"""The thesaurus that comes with the package: up to date, complete, and loadable without rdflib."""

import subprocess
import sys
from pathlib import Path

import pytest

import knowledge_manager
from dens.config.problems import DocumentError
from knowledge_manager.lookup.thesaurus_check import compile_thesaurus_files, problems_with_table
from knowledge_manager.lookup.thesaurus_files import load_thesaurus, shipped_thesauri
from knowledge_manager.mission_table import load_mission_table
from knowledge_manager.thesaurus.concept import Target
from knowledge_manager.thesaurus.skos import read_skos_files

FOLDER = Path(knowledge_manager.__file__).parent / "thesauri"
SOURCES = sorted(FOLDER.glob("*.ttl"))
TABLE = load_mission_table(["medical", "weather", "fire"])


def test_the_compiled_form_is_that_of_the_sources(request: pytest.FixtureRequest) -> None:
    compiled, warnings = compile_thesaurus_files(SOURCES)
    assert warnings == []
    if request.config.getoption("--renew-golden", default=False):
        (FOLDER / "rescue.thesaurus").write_bytes(compiled)
    assert compiled == (FOLDER / "rescue.thesaurus").read_bytes()


def test_it_fits_the_shipped_vocabularies() -> None:
    assert list(problems_with_table(read_skos_files(SOURCES), TABLE, "rescue")) == []


@pytest.mark.parametrize("language", ["en", "no", "bg"])
def test_every_measured_attribute_has_a_word(language: str) -> None:
    thesaurus = load_thesaurus("rescue")
    lacking = [
        f"{event.name}.{attribute.name}"
        for event in TABLE.events
        for attribute in event.attributes
        if attribute.name not in ("x", "y", "seen_at")
        and not thesaurus.labels_of(Target("attribute", f"{event.name}.{attribute.name}"), language)
    ]
    assert lacking == []


def test_a_node_needs_neither_rdflib_nor_pint() -> None:
    code = (
        "import sys; from knowledge_manager.lookup.thesaurus_files import load_thesaurus;"
        "assert load_thesaurus('rescue').find('temp');"
        "print([name for name in ('rdflib', 'pint', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_names_and_files(tmp_path: Path) -> None:
    assert shipped_thesauri() == ("rescue",)
    with pytest.raises(DocumentError, match=r'D224: no shipped thesaurus .*did you mean "rescue"'):
        load_thesaurus("rescu")
    with pytest.raises(DocumentError, match="D001"):
        load_thesaurus(tmp_path / "none.thesaurus")
    (tmp_path / "bad.thesaurus").write_bytes(b"nonsense, and no thesaurus")
    with pytest.raises(DocumentError, match="D223: not a compiled thesaurus: byte 0"):
        load_thesaurus(tmp_path / "bad.thesaurus")
