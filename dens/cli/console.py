"""Where output goes: results to stdout, everything said on the way to stderr.

With `--json` stdout carries exactly one document. Colour and live progress appear only on a terminal, and
`NO_COLOR` is honoured, which rich does by itself.
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
    """Return the console for chatter, warnings, errors and progress."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)


def print_document(document: Any) -> None:
    """Print the one JSON document of a command that was called with `--json`."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, sort_keys=False) + "\n")


def print_figures(figures: dict[str, Any]) -> None:
    """Print named numbers below each other; what is not known is a dash."""
    for name, figure in figures.items():
        if figure is None:
            shown = "–"
        elif isinstance(figure, str):
            shown = figure
        else:
            shown = f"{figure:,.1f}" if isinstance(figure, float) else f"{figure:,}"
        sys.stdout.write(f"{name:<24}{shown:>16}\n")


def say(line: str, style: str | None = None) -> None:
    """Tell the person something that is not the result. Markup in `line` is shown as it is."""
    err().print(printable(line), style=style, markup=False)


@contextmanager
def steps(first: str) -> "Iterator[Callable[[str], None]]":
    """Show which step is under way: as a spinner on a terminal, as a line each elsewhere."""
    if not err().is_terminal:
        say(first)
        yield say
        return
    with err().status(first) as status:
        yield status.update
