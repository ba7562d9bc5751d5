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
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from dens.config import exit_codes as exits
from dens.config.streams import guarded

_LEFT_BEHIND = {
    "sweep": "runs that are done stay; the same command goes on with the others",
    "live": "what was brought in stays; the same command goes on from there",
    "graph": "what was judged stays; the same command goes on from there, or does it again",
    **dict.fromkeys(
        ("board", "compile", "experiment", "init", "learn"), "files that are done stay, none is half written"
    ),
}
"""What an interrupted command leaves behind. One that is not here writes at its end, if at all, or says by
itself what it left."""


_COMMANDS = {
    "run": "runs.run:run",
    "rerun": "runs.rerun:rerun",
    "compare": "runs.compare:compare",
    "report": "runs.report:report",
    "live": "runs.live:live",
    "sweep": "runs.sweep:sweep",
    "compile": "subscriptions.compile_:compile_",
    "decode": "subscriptions.decode:decode",
    "decompile": "subscriptions.decompile:decompile",
    "explain": "subscriptions.explain:explain",
    "match": "subscriptions.match:match",
    "check": "subscriptions.check:check",
    "lookup": "vocabularies.lookup:lookup",
    "offers": "node.offers:offers",
    "contacts": "runs.contacts:contacts",
    "replay": "runs.replay:replay",
    "cover": "subscriptions.cover:cover",
    "experiment": "tools.experiment:experiment",
    "torture": "tools.torture:torture",
    "publish": "node.publish:publish",
    "init": "vocabularies.init:init",
    "doctor": "tools.doctor:doctor",
    "help": "tools.help:help_",
    "schema": "vocabularies.schema:schema",
    "learn": "runs.learn:app",
    "vocabulary": "vocabularies.vocabulary:app",
    "thesaurus": "vocabularies.thesaurus:app",
    "graph": "graphs.graph:app",
    "key": "node.key:app",
    "node": "node.node:app",
    "board": "board.board:app",
}
"""Every command and where it is defined: a function, or a Typer app with further commands. A module is
imported when its command is called, or when help lists them all."""


class _Commands(TyperGroup):
    """The sub-commands, imported on demand.

    Typer turns an interruption into a silent exit code; here it is raised again as `typer.Abort`.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        return list(_COMMANDS)

    def make_context(self, *given: Any, **named: Any) -> Any:
        try:
            return super().make_context(*given, **named)
        except KeyboardInterrupt:
            raise typer.Abort from None

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Abort from None

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in _COMMANDS:
            return None
        command = _load_command(cmd_name)
        _refuse_addresses(command)
        return command


def _load_command(name: str) -> Any:
    module, _, attribute = _COMMANDS[name].partition(":")
    loaded = import_module(f"dens.cli.{module}")
    if name == "experiment" and (installed := loaded.installed()) is not None:
        return installed
    found = getattr(loaded, attribute)
    if isinstance(found, typer.Typer):
        command: Any = typer.main.get_group(found)
    else:
        holder = typer.Typer(add_completion=False, rich_markup_mode="rich")
        holder.command(name)(found)
        command = typer.main.get_command(holder)
    command.name = name
    return command


_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)")
"""An address such as s3a://bucket/run, after pathlib has folded its slashes."""


def _refuse_addresses(command: Any) -> None:
    """Let this command and the commands below it refuse addresses where they take paths.

    Otherwise "s3a://bucket/run" would be a local folder named "s3a:".
    """
    for nested in getattr(command, "commands", {}).values():
        _refuse_addresses(nested)
    if command.callback is not None:
        command.callback = _with_local_paths(command.callback)


def _with_local_paths(callback: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(callback)
    def checked(**values: Any) -> Any:
        for value in values.values():
            for path in value if isinstance(value, list) else [value]:
                if isinstance(path, Path) and (address := _ADDRESS.fullmatch(str(path))):
                    raise typer.BadParameter(
                        f"{address[1]}://{address[2]}: only paths of this machine's file systems are "
                        "supported; mount the storage, or copy the files"
                    )
        return callback(**values)

    return checked


app = typer.Typer(
    name="dens",
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Publish/subscribe for networks that are mostly broken: ask in words, filter at the source, "
    "carry until delivered.",
    epilog="Ends with 0 fine, 1 a finding, 2 usage, 3 bad input, 4 run aborted, 130 interrupted. "
    "Add --debug to any command for a traceback.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"dens {version('dens')}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and end the process with its exit code."""
    _open_closed_streams()
    _let_streams_take_anything()
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    sys.exit(_run([word for word in given if word != "--debug"], debug))


def _open_closed_streams() -> None:
    """Give the process something to read from and to write to where its caller closed it (`dens … >&-`)."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115


def _let_streams_take_anything() -> None:
    """Let no character and no byte of somebody's file or name end a command: what cannot be written is
    written as its escape, which JSON reads again, and what cannot be read is told as what it is not.
    """
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
        forget(sys.stdout)  # the reader went away (`dens … | head`); there is nobody left to tell
        return exits.FINE
    except Exception as error:
        if debug:
            traceback.print_exc()
        return _ended_by(error, as_json="--json" in arguments)
    return code if isinstance(code, int) else exits.FINE


def _ended_by(error: Exception, as_json: bool) -> int:
    """Say what went wrong, as far as there is anywhere to say it, and return the exit code."""
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
