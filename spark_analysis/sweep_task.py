"""One run of a sweep: the only place where analysis meets the emulator.

A variant of a scenario is a file of its own in the sweep's folder, beside links to everything that stands
beside the original, so that the files it names are found.
"""

import json
import os
from importlib.resources import as_file, files
from pathlib import Path

from emulation.run import run_scenario
from emulation.scenario import load_scenario, shipped_scenarios
from spark_analysis.key_figures import key_figures

__all__ = ["check_variant", "run_task", "scenario_file"]


def scenario_file(name_or_path: str) -> Path:
    """Return the file of a scenario; one that is not there or not right raises `DocumentError`."""
    if name_or_path in shipped_scenarios():
        with as_file(files("emulation") / "scenarios" / f"{name_or_path}.toml") as path:
            return path
    load_scenario(name_or_path)
    return Path(name_or_path)


def check_variant(file: Path) -> None:
    """Raise `DocumentError` with everything that is wrong with a variant's scenario."""
    load_scenario(file)


def run_task(file: str, seed: int, folder: str) -> dict[str, float | None]:
    """Run a variant with a seed and return its key figures; one that has been run is only asked for them.

    The figures stand in the run's folder as `figures.json`, which is written last and at once: where it
    stands the run is whole.
    """
    run = Path(folder)
    answer = run / "figures.json"
    if answer.is_file():
        known: dict[str, float | None] = json.loads(answer.read_text(encoding="utf-8"))
        return known
    run_scenario(load_scenario(Path(file)), seed, run, force=True)
    figures = key_figures(run)
    unfinished = run / f".figures.{os.getpid()}"
    unfinished.write_text(json.dumps(figures), encoding="utf-8")
    unfinished.replace(answer)
    return figures
