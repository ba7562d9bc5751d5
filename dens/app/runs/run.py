"""Runs scenarios, and opens the folders of runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from dens.trace.recorded_run import RecordedRun
    from emulation.run import Progress, RunSummary
    from emulation.scenario import Scenario


@dataclass(frozen=True)
class Run:
    """A run in its folder. Nothing is read before it is needed."""

    folder: Path

    @cached_property
    def summary(self) -> Mapping[str, Any]:
        """Return the counts of the run: readings, notifications, deliveries, frames and others.

        Empty for a run that is still running or whose process was killed.
        """
        from dens.trace.run_documents import summary_of

        return summary_of(self.folder)

    @cached_property
    def metrics(self) -> Mapping[str, float | None]:
        """Compute every metric that does not need Spark. None means that the run does not have it.

        Matches all notifications again, so it takes as long as matching them.
        """
        from spark_analysis.catalogue.evidence import SWEPT
        from spark_analysis.catalogue.metric import values_of
        from spark_analysis.catalogue.recorded import evidence_of
        from spark_analysis.catalogue.registry import metrics_from

        return values_of(metrics_from(SWEPT), evidence_of(self._recorded))

    def table(self, name: str) -> "pa.Table":
        """Return a table of the trace, such as "contacts" (docs/reference/trace-format.md lists them)."""
        from dens.config.problems import did_you_mean
        from dens.config.refusal import Refusal
        from dens.trace.schema import TABLES

        if name not in TABLES:
            raise Refusal(f'a trace has no table "{name}" ({", ".join(TABLES)}){did_you_mean(name, TABLES)}')
        return self._recorded.table(name)

    def report(self, output: str | Path | None = None) -> Path:
        """Analyse the run with Spark and write the report; return where it is: `report.html` in the folder
        by default.
        """
        from dens.app.runs.report import report

        return report([self.folder], None if output is None else Path(output)).page

    @cached_property
    def _recorded(self) -> "RecordedRun":
        from dens.trace.recorded_run import recorded_run

        return recorded_run(self.folder)


def run(
    scenario: str | Path,
    seed: int | None = None,
    out: str | Path | None = None,
    set: Mapping[str, Any] | None = None,
    *,
    force: bool = False,
    allow_code: bool = False,
) -> Run:
    """Run a shipped scenario or a scenario file, and write its trace.

    The same scenario, seed and changes give the same trace. `set` changes keys of the scenario, such as
    `{"group[0].count": 20}`. `out` is `runs/NAME-SEED` by default; an earlier run there is replaced only
    with `force`. A scenario with processes runs their code only with `allow_code`. Raises `DocumentError`
    with every problem of the scenario. Ctrl-C ends the run early: its summary then has the status "partial".
    """
    from emulation.scenario import load_scenario

    changes = [f"{path}={toml_value(value)}" for path, value in (set or {}).items()]
    loaded = load_scenario(scenario, changes)
    chosen = loaded.seed if seed is None else seed
    folder = run_folder(loaded, chosen) if out is None else Path(out)
    run_into(loaded, chosen, folder, force=force, allow_code=allow_code)
    return Run(folder)


def open_run(folder: str | Path) -> Run:
    """Open the folder of a run, or of a trace that `dens node run --trace` wrote.

    Raises `NotARun` if it is neither.
    """
    from dens.trace.manifest import read_manifest

    path = Path(folder)
    read_manifest(path)
    return Run(path)


def run_into(
    scenario: "Scenario",
    seed: int,
    folder: Path,
    *,
    progress: "Callable[[Progress], None] | None" = None,
    force: bool = False,
    allow_code: bool = False,
) -> "RunSummary":
    """Run a loaded scenario and write its folder."""
    from emulation.run import run_scenario

    return run_scenario(scenario, seed, folder, progress=progress, force=force, allow_code=allow_code)


def run_folder(scenario: "Scenario", seed: int) -> Path:
    """Return the default folder of a run."""
    return Path("runs") / f"{scenario.name}-{seed}"


def toml_value(value: object) -> str:
    """Write a value as TOML.

    >>> toml_value(True), toml_value("prophet"), toml_value([1, 2.5]), toml_value({"a": 1})
    ('true', '"prophet"', '[1, 2.5]', '{a = 1}')
    """
    import json

    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {toml_value(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return json.dumps(str(value) if isinstance(value, Path) else value, ensure_ascii=False)
