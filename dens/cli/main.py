"""The `dens` command: puts the sub-commands together and turns every failure into words and an exit code.

A command module imports only typer at its top; the rooms are imported inside the command that needs them, so
that help and completion stay quick.
"""

import io
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from dens.cli.board import board
from dens.cli.graphs import graph
from dens.cli.node import key, node, offers, publish
from dens.cli.runs import compare, contacts, learn, live, replay, report, rerun, run, sweep
from dens.cli.subscriptions import check, compile_, cover, decode, decompile, explain, match
from dens.cli.tools import doctor, experiment, torture
from dens.cli.vocabularies import init, lookup, schema, thesaurus, vocabulary
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


class _Commands(TyperGroup):
    """The sub-commands. Typer makes an exit code of an interruption, without a word; here it stays one."""

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
        command = experiment.installed() if cmd_name == "experiment" else None
        command = command or super().get_command(ctx, cmd_name)
        if command is not None:
            _refuse_addresses(command)
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

app.command("run")(run.run)
app.command("rerun")(rerun.rerun)
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("live")(live.live)
app.add_typer(learn.app, name="learn")
app.command("sweep")(sweep.sweep)
app.command("compile")(compile_.compile_)
app.command("decode")(decode.decode)
app.command("decompile")(decompile.decompile)
app.command("explain")(explain.explain)
app.command("match")(match.match)
app.command("check")(check.check)
app.command("lookup")(lookup.lookup)
app.command("offers")(offers.offers)
app.add_typer(vocabulary.app, name="vocabulary")
app.add_typer(thesaurus.app, name="thesaurus")
app.add_typer(graph.app, name="graph")
app.command("contacts")(contacts.contacts)
app.command("replay")(replay.replay)
app.command("cover")(cover.cover)
app.command("experiment")(experiment.experiment)
app.command("torture")(torture.torture)
app.add_typer(key.app, name="key")
app.add_typer(node.app, name="node")
app.command("publish")(publish.publish)
app.add_typer(board.app, name="board")
app.command("init")(init.init)
app.command("doctor")(doctor.doctor)
app.command("schema")(schema.schema)


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
