"""A run done again, and held against the first one.

It is made from the folder of the run alone. The versions of what computes are compared before, because other
versions may well give other bytes, and the bytes are compared after: they decide.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from emulation.comparison import Comparison, Difference, compare_runs, differences
from emulation.run import Progress, RunSummary, manifest_of_run, run_scenario
from emulation.run_inputs import manifest_of, scenario_of


@dataclass(frozen=True, slots=True)
class Again:
    """What came of doing a run again. `comparison` is None where the first one was never finished."""

    summary: RunSummary
    versions: tuple[Difference, ...]
    comparison: Comparison | None


def version_differences(run: Path) -> tuple[Difference, ...]:
    """Return what this run was made with and what is installed now, where they differ."""
    then = manifest_of(run)
    scenario, seed = scenario_of(run)
    now = manifest_of_run(scenario, seed, "running", 0, {})
    keys = ("schema_version", "table_check", "versions")
    return tuple(differences({key: then.get(key) for key in keys}, {key: now[key] for key in keys}))


def rerun(
    run: Path, out: Path, progress: Callable[[Progress], None] | None = None, *, force: bool = False
) -> Again:
    """Do a run again into the folder `out`; a folder that is no run raises `NotARun`."""
    if out.exists() and out.samefile(run):
        raise FileExistsError(f"{run} is the run itself; name another folder")
    versions = version_differences(run)
    whole = manifest_of(run).get("status") == "complete"
    scenario, seed = scenario_of(run)
    summary = run_scenario(scenario, seed, out, progress, force=force)
    both_whole = whole and summary.status == "complete"
    return Again(summary, versions, compare_runs(run, out) if both_whole else None)
