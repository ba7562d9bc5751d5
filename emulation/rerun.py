"""Repeats a run and compares its trace with the first one.

The repetition uses only the folder of the run. Versions are compared before, because other versions may give
other bytes; the bytes are compared after, and they decide. An interrupted run is repeated up to the time that
it reached.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dens.trace.comparison import Comparison, Difference, compare_runs, compare_until, differences
from dens.trace.run_documents import manifest_of
from dens.trace.versions import corrections_since
from emulation.run import Progress, RunSummary, manifest_of_run, run_scenario
from emulation.run_inputs import scenario_of


@dataclass(frozen=True, slots=True)
class Again:
    """The result of a repetition. `comparison` is None if the repetition was interrupted."""

    summary: RunSummary
    versions: tuple[Difference, ...]
    comparison: Comparison | None
    corrections: tuple[str, ...]
    """Corrections made since the version of the first run. They explain a different trace."""

    @property
    def reproduced(self) -> bool:
        """Return whether the traces are identical, or differ where corrections since then explain it."""
        return self.comparison is not None and (self.comparison.same_trace or bool(self.corrections))


def version_differences(run: Path) -> tuple[Difference, ...]:
    """Return the differences between the versions of this run and the installed ones."""
    then = manifest_of(run)
    scenario, seed = scenario_of(run)
    now = manifest_of_run(scenario, seed, "running", 0, {})
    keys = ("schema_version", "table_check", "versions")
    return tuple(differences({key: then.get(key) for key in keys}, {key: now[key] for key in keys}))


def interrupted_at_ms(run: Path) -> int | None:
    """Return the time that an incomplete run reached, or None if it is complete."""
    manifest = manifest_of(run)
    if manifest.get("status") == "complete":
        return None
    return int(manifest["simulated_ms"])


def rerun(
    run: Path,
    out: Path,
    progress: Callable[[Progress], None] | None = None,
    *,
    force: bool = False,
    allow_code: bool = False,
) -> Again:
    """Repeat a run into the folder `out`; a folder that is not a run raises `NotARun`, and one whose scenario
    has processes is refused unless `allow_code`."""
    if out.exists() and out.samefile(run):
        raise FileExistsError(f"{run} is the run itself; name another folder")
    versions = version_differences(run)
    corrections = corrections_since(str(manifest_of(run).get("versions", {}).get("dens", "")))
    reached_ms = interrupted_at_ms(run)
    scenario, seed = scenario_of(run)
    summary = run_scenario(
        scenario, seed, out, progress, force=force, until_ms=reached_ms, allow_code=allow_code
    )
    if reached_ms is None:
        compared = compare_runs(run, out) if summary.status == "complete" else None
        return Again(summary, versions, compared, corrections)
    got_there = round(1000 * summary.simulated_s) >= min(reached_ms, scenario.duration_ms)
    compared = compare_until(run, out, reached_ms) if got_there else None
    return Again(summary, versions, compared, corrections)
