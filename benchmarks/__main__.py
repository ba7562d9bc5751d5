"""`python -m benchmarks [--only NAME] [--page FILE.md]`: run the benchmarks and print JSON lines.

A benchmark is a module with `measure()`. The benchmark of `benchmarks/graph/peers.py` is called
`graph_peers`. The lines are also written to latest.jsonl; `make figures` writes all of them to
docs/measurements.md.
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
    "composite.workload",
    "engine_forms",
    "graph.populations",
    "measurement",
    "page",
    "sizes",
    "spark.trace_rows",
    "workloads",
}


def modules() -> dict[str, str]:
    """Return the module of each benchmark by its name."""
    found = {}
    for module in pkgutil.walk_packages(benchmarks.__path__, "benchmarks."):
        path = module.name.removeprefix("benchmarks.")
        if not module.ispkg and path not in NOT_A_BENCHMARK:
            found[path.replace(".", "_")] = module.name
    return found


def names() -> list[str]:
    """Return the names of all benchmarks."""
    return sorted(modules())


def main() -> int:
    """Run the chosen benchmarks. A missed goal does not fail, because machines are noisy; a benchmark that
    cannot run is reported, the others continue, and the exit code is 1."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--only", help="run benchmarks whose names begin with this: " + ", ".join(names()))
    parser.add_argument(
        "--keep", type=Path, default=LATEST, metavar="FILE", help="also write JSON lines here"
    )
    parser.add_argument("--page", type=Path, metavar="FILE.md", help="write a page with all measurements")
    options = parser.parse_args()
    prefix = options.only or ""
    chosen = [name for name in names() if name.startswith(prefix)]
    if not chosen:
        parser.error(f"no benchmark begins with {prefix}; known benchmarks: {', '.join(names())}")
    paths = modules()
    console = Console(stderr=True)
    console.width = max(console.width, 120)
    results: list[Measurement] = []
    failed: list[str] = []
    with options.keep.open("w") as kept:
        for name in chosen:
            console.print(f"measuring {name} …")
            try:
                module = importlib.import_module(paths[name])
                console.print(f"  {_summary(module.__doc__)}", style="dim", markup=False)
                for measurement in module.measure():
                    results.append(measurement)
                    for stream in (sys.stdout, kept):
                        stream.write(measurement.as_line() + "\n")
                        stream.flush()
            except Exception:
                failed.append(name)
                console.print(f"{name} failed:\n{traceback.format_exc()}", style="red", markup=False)
    table = Table(Column("measurement", no_wrap=True), "ours", "compared with", "ratio", "goal", "reached")
    for m in results:
        reached = "no goal" if m.holds is None else "[green]yes[/]" if m.holds else "[red]no[/]"
        table.add_row(m.name, *map(_number, (m.ours, m.peer, m.ratio)), _goal(m), reached)
    console.print(table)
    if options.page is not None:
        write_page(options.page, results, failed)
    if failed:
        console.print(f"failed: {', '.join(failed)}", style="red", markup=False)
    return 1 if failed else 0


def _summary(docstring: str | None) -> str:
    """Return the first paragraph of a module's docstring: what is measured, and with what it is compared."""
    return " ".join((docstring or "").split("\n\n")[0].split())


def _goal(measured: Measurement) -> str:
    """Return the goal of the ratio with its direction."""
    if measured.goal is None or measured.ratio is None:
        return ""
    is_least = (measured.ratio >= measured.goal) == measured.holds
    return f"{'≥' if is_least else '≤'} {measured.goal:.4g}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


if __name__ == "__main__":
    sys.exit(main())
