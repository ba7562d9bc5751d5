"""Progress of a run on stderr: a bar on a terminal, or JSON lines for programs."""

import json
import sys
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from dens.cli import console

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emulation.run import Progress

    Show = Callable[[Progress], None]

FORMS = ("auto", "json", "none")
"""`auto` is a bar on a terminal and nothing elsewhere."""


def progress(name: str, form: str) -> Any:
    """Return a context manager that yields the progress callback of the emulator, or None."""
    if form == "json":
        return _lines(name)
    return _bar(name) if form == "auto" and console.err().is_terminal else _silence()


class Speed:
    """Simulated seconds per second of real time, since the start."""

    def __init__(self) -> None:
        self._begin = monotonic()

    def at(self, simulated_s: float) -> float:
        return simulated_s / max(monotonic() - self._begin, 1e-6)


def print_line(document: dict[str, Any]) -> None:
    """Write one line of JSON to stderr and flush."""
    sys.stderr.write(json.dumps(document) + "\n")
    sys.stderr.flush()


@contextmanager
def _silence() -> "Iterator[None]":
    yield None


@contextmanager
def _lines(name: str) -> "Iterator[Show]":
    speed = Speed()

    def show(step: "Progress") -> None:
        print_line({"scenario": name, **step.as_document(), "speed": round(speed.at(step.simulated_s), 1)})

    yield show


@contextmanager
def _bar(name: str) -> "Iterator[Show]":
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[counts]}"),
    )
    speed = Speed()
    with Bar(*columns, console=console.err(), transient=True) as bar:
        task = bar.add_task(f"running {name}", total=1.0, counts="")

        def show(step: "Progress") -> None:
            counts = f"{step.line()}, {speed.at(step.simulated_s):,.0f}× real time"
            bar.update(task, completed=step.simulated_s / step.duration_s, counts=counts)

        yield show
