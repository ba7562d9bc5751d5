"""`python -m benchmarks [--only NAME] [--page FILE.md]`: run the measurements and print JSON lines.

The lines are kept in latest.jsonl. `make figures` writes all of them to docs/measurements.md.
"""

import argparse
import importlib
import pkgutil
import sys
import traceback
from pathlib import Path

from rich.console import Console
from rich.table import Column, Table

import benchmarks
from benchmarks.measurement import Measurement
from benchmarks.page import write_page

LATEST = Path(__file__).parent / "latest.jsonl"
NOT_A_BENCHMARK = {
    "__main__",
    "composite_workload",
    "engine_forms",
    "graph_populations",
    "measurement",
    "page",
    "sizes",
    "trace_rows",
    "workloads",
}


def names() -> list[str]:
    """Return the benchmarks there are, by file name."""
    return sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name not in NOT_A_BENCHMARK)


def main() -> int:
    """Run the chosen benchmarks. A missed goal does not fail, because machines are noisy; a benchmark that
    cannot run is reported, the others continue, and the exit code is 1."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--only", help="run those whose names begin so: " + ", ".join(names()))
    parser.add_argument("--keep", type=Path, default=LATEST, metavar="FILE", help="write JSON lines here too")
    parser.add_argument("--page", type=Path, metavar="FILE.md", help="write a page of all figures")
    options = parser.parse_args()
    beginning = options.only or ""
    chosen = [name for name in names() if name.startswith(beginning)]
    if not chosen:
        parser.error(f"no benchmark begins with {beginning}; there are {', '.join(names())}")
    console = Console(stderr=True)
    console.width = max(console.width, 120)
    results: list[Measurement] = []
    failed: list[str] = []
    with options.keep.open("w") as kept:
        for name in chosen:
            console.print(f"measuring {name} …")
            try:
                for measurement in importlib.import_module(f"benchmarks.{name}").measure():
                    results.append(measurement)
                    for stream in (sys.stdout, kept):
                        stream.write(measurement.as_line() + "\n")
                        stream.flush()
            except Exception:
                failed.append(name)
                console.print(f"{name} failed:\n{traceback.format_exc()}", style="red", markup=False)
    table = Table(Column("measurement", no_wrap=True), "ours", "peer", "ratio", "goal", "holds")
    for m in results:
        holds = "figure" if m.holds is None else "[green]yes[/]" if m.holds else "[red]no[/]"
        table.add_row(m.name, *map(_number, (m.ours, m.peer, m.ratio, m.goal)), holds)
    console.print(table)
    if options.page is not None:
        write_page(options.page, results, failed)
    if failed:
        console.print(f"failed: {', '.join(failed)}", style="red", markup=False)
    return 1 if failed else 0


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


if __name__ == "__main__":
    sys.exit(main())
