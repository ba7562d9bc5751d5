"""`python -m benchmarks [--only NAME]`: run the measurements, print JSON lines, keep them in latest.jsonl."""

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Column, Table

import benchmarks
from benchmarks.measurement import Measurement

LATEST = Path(__file__).parent / "latest.jsonl"
NOT_A_BENCHMARK = {
    "__main__",
    "composite_workload",
    "engine_forms",
    "graph_populations",
    "measurement",
    "trace_rows",
    "workloads",
}


def names() -> list[str]:
    """Return the benchmarks there are, by file name."""
    return sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name not in NOT_A_BENCHMARK)


def main() -> int:
    """Run the chosen benchmarks; end 0 even where a goal is missed, because timings never gate."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--only", help="run those whose names begin so: " + ", ".join(names()))
    beginning = parser.parse_args().only or ""
    chosen = [name for name in names() if name.startswith(beginning)]
    if not chosen:
        parser.error(f"no benchmark begins with {beginning}; there are {', '.join(names())}")
    console = Console(stderr=True)
    console.width = max(console.width, 120)
    results: list[Measurement] = []
    with LATEST.open("w") as kept:
        for name in chosen:
            console.print(f"measuring {name} …")
            for measurement in importlib.import_module(f"benchmarks.{name}").measure():
                results.append(measurement)
                for stream in (sys.stdout, kept):
                    stream.write(measurement.as_line() + "\n")
                    stream.flush()
    table = Table(Column("measurement", no_wrap=True), "ours", "peer", "ratio", "goal", "holds")
    for m in results:
        holds = "figure" if m.holds is None else "[green]yes[/]" if m.holds else "[red]no[/]"
        table.add_row(m.name, *map(_number, (m.ours, m.peer, m.ratio, m.goal)), holds)
    console.print(table)
    return 0


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


if __name__ == "__main__":
    sys.exit(main())
