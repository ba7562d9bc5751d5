"""Where output goes: results to stdout, everything said on the way to stderr.

With `--json` stdout carries exactly one document. Colour and live progress appear only on a terminal, and
`NO_COLOR` is honoured, which rich does by itself.
"""

import json
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


@cache
def out() -> "Console":
    """Return the console for results."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


@cache
def err() -> "Console":
    """Return the console for chatter, warnings, errors and progress."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def print_document(document: Any) -> None:
    """Print the one JSON document of a command that was called with `--json`."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, sort_keys=False) + "\n")


def say(line: str, style: str | None = None) -> None:
    """Tell the person something that is not the result. Markup in `line` is shown as it is."""
    err().print(line, style=style, markup=False)
