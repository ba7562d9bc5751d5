"""The `dens` command: finds the sub-commands and turns every failure into a message and an exit code.

A command module imports only typer at its top; other packages are imported inside the command that needs
them, so that help and completion stay quick.
"""

import io
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from dens.app.errors import BadArgument
from dens.config import exit_codes as exits
from dens.config.streams import guarded

_LEFT_BEHIND: Final = {
    "sweep": "finished runs are kept; the same command continues with the others",
    "live": "finished batches are kept; the same command continues from there",
    "graph": "finished batches are kept; the same command continues from there, or starts again",
    **dict.fromkeys(
        ("board", "compile", "experiment", "init", "learn"), "finished files are kept; none is incomplete"
    ),
}
"""What an interrupted command leaves behind. Other commands write at their end, or report it themselves."""

_RENAMED: Final = {
    ("publish",): "dens node publish",
    ("node", "offers"): "dens offers",
    ("node", "lookup"): "dens offers --word",
    ("experiment", "gtopss"): "dens experiment graph",
}
"""Commands renamed in 0.3. Remove the table in 0.4."""


class _RenamedCommand(Exception):
    """A usage error, in the form in which typer reports its own."""

    def format_message(self) -> str:
        return str(self)


_PANELS: Final[dict[str, dict[str, str]]] = {
    "Subscriptions": {
        "check": "subscriptions.check:check",
        "compile": "subscriptions.compile_:compile_",
        "explain": "subscriptions.explain:explain",
        "match": "subscriptions.match:match",
        "cover": "subscriptions.cover:cover",
        "decode": "subscriptions.decode:decode",
        "decompile": "subscriptions.decompile:decompile",
    },
    "Runs": {
        "run": "runs.run:run",
        "report": "runs.report:report",
        "live": "runs.live:live",
        "compare": "runs.compare:compare",
        "rerun": "runs.rerun:rerun",
        "sweep": "runs.sweep:sweep",
        "learn": "runs.learn:app",
        "contacts": "runs.contacts:contacts",
        "replay": "runs.replay:replay",
    },
    "Real nodes": {"node": "node.node:app", "offers": "node.offers:offers", "key": "node.key:app"},
    "Boards": {"board": "board.board:app"},
    "Vocabularies": {
        "vocabulary": "vocabularies.vocabulary:app",
        "lookup": "vocabularies.lookup:lookup",
        "thesaurus": "vocabularies.thesaurus:app",
        "schema": "vocabularies.schema:schema",
    },
    "Graphs": {"graph": "graphs.graph:app"},
    "Tools": {
        "init": "vocabularies.init:init",
        "help": "tools.help:help_",
        "doctor": "tools.doctor:doctor",
        "experiment": "tools.experiment:experiment",
        "torture": "tools.torture:torture",
    },
}
"""Panels of help → commands → where each is defined: a function, or a Typer app with further commands. A
module is imported when its command is called, or when help lists them all."""
_PANEL_OF: Final = {name: panel for panel, commands in _PANELS.items() for name in commands}


class _Commands(TyperGroup):
    """The sub-commands, imported on demand.

    Unlike in Typer's group, an interruption stays an exception, so that it is reported.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        return list(_PANEL_OF)

    def make_context(self, *given: Any, **named: Any) -> Any:
        try:
            return super().make_context(*given, **named)
        except KeyboardInterrupt:
            raise typer.Abort from None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for old, new in _RENAMED.items():
            if tuple(args[: len(old)]) == old:
                raise _RenamedCommand(f'"dens {" ".join(old)}" was renamed to "{new}"')
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Abort from None

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in _PANEL_OF:
            return None
        command = _load_command(cmd_name)
        _prepare(command)
        return command


def _load_command(name: str) -> Any:
    module, _, attribute = _PANELS[_PANEL_OF[name]][name].partition(":")
    loaded = import_module(f"dens.cli.{module}")
    command: Any = loaded.installed() if name == "experiment" else None
    found = getattr(loaded, attribute)
    if command is None and isinstance(found, typer.Typer):
        command = typer.main.get_group(found)
    elif command is None:
        holder = typer.Typer(add_completion=False, rich_markup_mode="rich")
        holder.command(name)(found)
        command = typer.main.get_command(holder)
    command.name = name
    command.rich_help_panel = _PANEL_OF[name]
    return command


_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)")
"""A URL such as s3a://bucket/run, after pathlib has folded its slashes."""


def _prepare(command: Any) -> None:
    """Add to a command and those below it what all commands have in common."""
    for nested in getattr(command, "commands", {}).values():
        _prepare(nested)
    if command.help is not None:  # typer prints the line breaks of a docstring as they are
        command.help = "\n\n".join(" ".join(part.split()) for part in command.help.split("\n\n"))
    if command.callback is not None:
        command.callback = _with_usage_errors(command.callback)


def _with_usage_errors(callback: Callable[..., Any]) -> Callable[..., Any]:
    """Reject URLs where paths are expected ("s3a://bucket/run" would be a folder named "s3a:"), and report
    bad arguments of use cases as usage errors.
    """

    @wraps(callback)
    def checked(**values: Any) -> Any:
        for value in values.values():
            for path in value if isinstance(value, list) else [value]:
                if isinstance(path, Path) and (address := _ADDRESS.fullmatch(str(path))):
                    raise typer.BadParameter(
                        f"{address[1]}://{address[2]}: only local paths are supported; mount the storage, "
                        "or copy the files"
                    )
        try:
            return callback(**values)
        except BadArgument as error:
            raise typer.BadParameter(str(error), param_hint=error.option) from None

    return checked


app = typer.Typer(
    name="dens",
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Content-based publish/subscribe for networks that are rarely connected.",
    epilog="Exit codes: 0 success, 1 findings, 2 usage error, 3 invalid input, 4 run aborted, "
    "130 interrupted. --debug prints a traceback.",
)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        from importlib.metadata import version

        typer.echo(f"dens {version('dens')}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code."""
    _open_closed_streams()
    _let_streams_take_anything()
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    sys.exit(_run([word for word in given if word != "--debug"], debug))


def _open_closed_streams() -> None:
    """Replace standard streams that the caller closed (`dens … >&-`)."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115


def _let_streams_take_anything() -> None:
    """Escape characters that an encoding cannot write, so that odd file names never abort a command."""
    for stream, errors in (
        (sys.stdin, "surrogateescape"),
        (sys.stdout, "backslashreplace"),
        (sys.stderr, "backslashreplace"),
    ):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)
    sys.stdout, sys.stderr = guarded(sys.stdout), guarded(sys.stderr)


def _run(arguments: list[str], debug: bool) -> int:
    from dens.config.streams import forget

    try:
        code = app(arguments, prog_name="dens", standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        command = next((word for word in arguments if not word.startswith("-")), "")
        sys.stderr.write(f"interrupted; {_LEFT_BEHIND.get(command, 'nothing was written')}\n")
        return exits.INTERRUPTED
    except BrokenPipeError:
        forget(sys.stdout)  # the reader is gone (`dens … | head`)
        return exits.FINE
    except Exception as error:
        if debug:
            traceback.print_exc()
        return _ended_by(error, as_json="--json" in arguments)
    return code if isinstance(code, int) else exits.FINE


def _ended_by(error: Exception, as_json: bool) -> int:
    """Print the failure, as far as streams are open, and return the exit code."""
    from dens.cli.console import print_document, say
    from dens.cli.failures import failure_of
    from dens.config.streams import forget

    failure = failure_of(error)
    try:
        for line in failure.lines:
            say(line, style="red")
        if as_json:
            print_document({"problems": list(failure.problems)})
            sys.stdout.flush()
    except OSError:
        forget(sys.stdout)
    return failure.exit_code
