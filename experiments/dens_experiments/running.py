"""Measures figures one after the other; what is finished is written down whole, whatever comes later."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dens.config.atomic_write import write_whole
from dens_experiments.drawing import draw
from dens_experiments.family import Figure, Request
from dens_experiments.panel import Panel
from dens_experiments.tables import comma_separated, markdown


@dataclass(frozen=True, slots=True)
class Finished:
    """A figure that was measured, and how long that took on the clock."""

    figure: Figure
    panel: Panel
    seconds: float


def measured(
    figures: Sequence[Figure], request: Request, tell: Callable[[str], None], output: Path | None
) -> Iterator[Finished]:
    """Measure each figure, write its files into `output` if there is one, and yield it.

    A folder that cannot be made is refused before anything is measured.
    """
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
    for place, figure in enumerate(figures, 1):
        head = f"{figure.name} ({place} of {len(figures)})"
        tell(head)
        begin = time.monotonic()
        at = figure.place(request.on)
        assert at is not None, "chosen figures can be measured"
        panel = at.measure(request, lambda step, head=head: tell(f"{head}: {step}"))  # type: ignore[misc]
        finished = Finished(figure, panel, time.monotonic() - begin)
        if output is not None:
            write_files(finished, output, request)
        yield finished


def write_files(finished: Finished, folder: Path, request: Request) -> None:
    """Write picture, table and data of a figure: FIGURE.svg, .md, .csv, .json; the last one says it is
    whole."""
    stem = finished.figure.name
    if request.on and "on" not in finished.figure.takes:
        stem += "_on_board"
    if finished.panel.picture:
        write_whole(folder / f"{stem}.svg", finished.panel.picture.encode())
    else:
        drawn = folder / f".{stem}.drawn.svg"
        try:
            draw(finished.panel, drawn)
            write_whole(folder / f"{stem}.svg", drawn.read_bytes())
        finally:
            drawn.unlink(missing_ok=True)
    write_whole(folder / f"{stem}.md", (markdown(finished.panel) + "\n").encode())
    write_whole(folder / f"{stem}.csv", comma_separated(finished.panel).encode())
    text = json.dumps(finished.panel.document(), indent=2, ensure_ascii=False)
    write_whole(folder / f"{stem}.json", (text + "\n").encode())
