"""Output of commands: results on stdout, messages and progress on stderr.

With `--json` stdout carries exactly one document. Colour and live progress appear only on a terminal, and
rich honours `NO_COLOR`.
"""

import json
import sys
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from dens.config.streams import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console


@cache
def out() -> "Console":
    """Return the console for results."""
    from rich.console import Console

    return Console(highlight=False, emoji=False, soft_wrap=not sys.stdout.isatty())


@cache
def err() -> "Console":
    """Return the console for messages, warnings, errors and progress."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)


def print_document(document: Any) -> None:
    """Print the JSON document of a command."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, sort_keys=False) + "\n")


def print_figures(figures: dict[str, Any]) -> None:
    """Print names and numbers in two columns; None is a dash."""
    for name, figure in figures.items():
        if figure is None:
            shown = "–"
        elif isinstance(figure, str):
            shown = figure
        else:
            shown = f"{figure:,.1f}" if isinstance(figure, float) else f"{figure:,}"
        sys.stdout.write(f"{name:<24}{shown:>16}\n")


def say(line: str, style: str | None = None) -> None:
    """Print a message on stderr. Markup in `line` is printed literally."""
    err().print(printable(line), style=style, markup=False)


@contextmanager
def steps() -> "Iterator[Callable[[str], None]]":
    """Yield a callback that shows the current step: a spinner on a terminal, one line per step elsewhere."""
    if not err().is_terminal:
        yield say
        return
    status = err().status("")

    def show(step: str) -> None:
        status.update(step)
        status.start()

    try:
        yield show
    finally:
        status.stop()
