"""The compiled engine and its text do the same, to the byte."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from compile_engine import describe_missing_tool, find_modules, main
from dens.compiled import CHECKOUT, choose_form, read_record
from tests.paths import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("compiled")]

RUN = """
import sys
from pathlib import Path
from dens.compiled import use_compiled
from emulation.run import run_scenario
from emulation.scenario import load_scenario
for number, text in enumerate(sys.argv[2:]):
    name, *changes = text.split()
    scenario = load_scenario(name, changes)
    run_scenario(scenario, scenario.seed, Path(sys.argv[1]) / str(number))
print(use_compiled().is_compiled)
"""
LOADERS = """
import importlib, sys
print(*(type(importlib.import_module(name).__spec__.loader).__name__ for name in sys.argv[1:]))
"""
SCENARIOS = (
    ("one_a", "duration_s=1200"),
    ("one_a", "duration_s=1200", "overlay.policy=prophet"),
    ("one_a", "duration_s=1200", "radio.device.loss=0.05"),
    ("one_c", "duration_s=60"),
    ("rescue", "duration_s=1200"),
    ("one_a", "duration_s=1200", "overlay.limits.work_per_s=1", "overlay.limits.work_burst=1"),
    ("two_islands", "duration_s=1200"),
    ("weather_poles", "duration_s=1200"),
    ("valley", "duration_s=3600"),
    ("dense", "duration_s=60"),
    ("triage", "duration_s=1200"),
)


@pytest.fixture(scope="module", autouse=True)
def compiled_engine() -> None:
    """Compile the present text if that was not done; a machine without a C compiler has one form only."""
    main()
    if missing := describe_missing_tool():
        pytest.skip(f"{missing}: THE COMPILED FORM OF THE ENGINE IS NOT TESTED HERE")
    assert choose_form(read_record(CHECKOUT), "").is_compiled, (CHECKOUT / "log.txt").read_text()[-2000:]


def python(form: str, *arguments: str) -> str:
    environment = {**os.environ, "DENS_PURE": {"compiled": "0", "pure": "1"}[form]}
    command = [sys.executable, "-c", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def runs(compiled_engine: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run all scenarios in one process per form; return the folder of both."""
    folder = tmp_path_factory.mktemp("forms")
    for form, is_compiled in (("compiled", "True\n"), ("pure", "False\n")):
        assert python(form, RUN, str(folder / form), *map(" ".join, SCENARIOS)) == is_compiled
    return folder


@pytest.mark.parametrize("scenario", SCENARIOS, ids=" ".join)
def test_a_run_has_the_same_folder(runs: Path, scenario: tuple[str, ...]) -> None:
    number = str(SCENARIOS.index(scenario))
    found, wanted = files_of(runs / "compiled" / number), files_of(runs / "pure" / number)
    assert sorted(found) == sorted(wanted)
    assert len(wanted) > 5
    assert [name for name in wanted if found[name] != wanted[name]] == []


def test_faults_are_met_in_the_same_way() -> None:
    command = "from dens.cli.__main__ import main; main()"
    said = [python(form, command, "torture", "--seeds", "1..8", "--json") for form in ("compiled", "pure")]
    assert said[0] == said[1]
    assert len(said[0]) > 100


@pytest.mark.parametrize(
    "first",
    [
        "dens.overlay.session.engine",
        "emulation.clock",
        "dens.node.recording.recorder",
        "plugins.composite.search.memory",
    ],
)
def test_whichever_room_is_imported_first_all_of_it_is_compiled(first: str) -> None:
    names = [name.removesuffix(".py").replace("/", ".") for name in find_modules()]
    assert len(names) > 30
    found = python("compiled", LOADERS, first, *names).split()
    assert set(found) == {"ExtensionFileLoader"}
    assert set(python("pure", LOADERS, first, *names).split()) == {"SourceFileLoader"}
