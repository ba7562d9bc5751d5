"""One run of a sweep: the only place where the analysis uses the emulator."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from dens.config.atomic_write import write_whole
from dens.config.json_documents import LARGEST_JSON, parse_json
from dens.config.problems import DocumentError
from dens.config.untrusted_folder import read_in
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from emulation.scenario_processes import check_allowed
from spark_analysis.sweep.key_figures import KeyFigures, key_figures, swept_metrics

__all__ = ["RunDone", "check_code", "fingerprint", "known_run", "run_task"]


@dataclass(frozen=True, slots=True)
class RunDone:
    """The metrics of a run, and the processor time of run and metrics."""

    figures: KeyFigures
    computing_s: float


def fingerprint(scenario: str, changes: Sequence[str]) -> str:
    """Return a digest of everything that a variant defines; an invalid variant raises `DocumentError`."""
    loaded = load_scenario(scenario, changes)
    content: list[object] = [
        {**loaded.settings.model_dump(mode="json"), "seed": None},
        [(subscription.file, subscription.document) for subscription in loaded.subscriptions],
        dict(loaded.vocabulary_documents),
    ]
    for process in loaded.settings.process:
        for name in (process.file, *process.files):
            content.append({name: sha256(loaded.inputs[name].read_bytes()).hexdigest()})
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


def known_run(folder: Path) -> RunDone | None:
    """Return the result of a finished run, or None if it has to be run.

    `figures.json` is written last and atomically: if it exists the run is complete. If its metrics are
    outdated they are computed again.
    """
    try:
        content = parse_json(
            read_in(folder, "figures.json", LARGEST_JSON), str(folder / "figures.json"), "D383"
        )
        if list(content["figures"]) != [metric.name for metric in swept_metrics()]:
            content["figures"] = key_figures(folder)
        return RunDone(**content)
    except FileNotFoundError:
        return None
    except (AttributeError, KeyError, TypeError):
        raise DocumentError.of_file(
            str(folder / "figures.json"), "D383", "does not hold the figures of a run; remove the folder"
        ) from None


def check_code(scenario: str, *, allow_code: bool) -> None:
    """Refuse a scenario with processes unless its code may run."""
    loaded = load_scenario(scenario)
    check_allowed(loaded.processes, loaded.name, allow_code=allow_code)


def run_task(
    scenario: str, changes: Sequence[str], seed: int, folder: str, allow_code: bool = False
) -> RunDone:
    """Run a variant with a seed and return its result; a finished run is not repeated."""
    run = Path(folder)
    known = known_run(run)
    if known is not None:
        return known
    begin = time.process_time()
    run_scenario(load_scenario(scenario, changes), seed, run, force=True, allow_code=allow_code)
    done = RunDone(key_figures(run), time.process_time() - begin)
    write_whole(run / "figures.json", json.dumps(asdict(done)).encode(), within=run)
    return done
