"""`dens match`: which notifications satisfy which subscriptions, line by line."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dens.cli.options import AsJson, OfBytes, Vocabularies
from dens.config import exit_codes as exits
from watchdog.header import body_of

if TYPE_CHECKING:
    from plugins.language import LevelledMatcher, Matcher


class Features(StrEnum):
    """When a subscription is a candidate for a notification."""

    SUBSET = "subset"
    EXACT = "exact"


def match(
    pattern: Annotated[
        str | None,
        typer.Argument(
            metavar="PATTERN", help="A subscription in XML or hex, with --csv.", show_default=False
        ),
    ] = None,
    subscriptions: Annotated[
        Path | None,
        typer.Option("--subscriptions", metavar="FILE", help="One subscription vector in hex a line."),
    ] = None,
    notifications: Annotated[
        Path | None,
        typer.Option("--notifications", metavar="FILE", help="One notification vector in hex a line."),
    ] = None,
    readings: Annotated[
        Path | None,
        typer.Option("--csv", metavar="DATA", help="Readings to search for the pattern.", show_default=False),
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Matching algorithm; case is ignored.", show_default=False),
    ] = None,
    options: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="OPTION=X", help="An option of the algorithm.", show_default=False),
    ] = None,
    features: Annotated[
        Features, typer.Option(help="Attributes: contained in the notification's, or equal.")
    ] = Features.SUBSET,
    now: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**31,
            metavar="S",
            help="Time in s, for the age of events.",
            show_default=False,
        ),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="B", help="Match so many together, as they complete.", show_default=False
        ),
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(
            metavar="L|auto", help="With --batch: order by work, estimated at this level.", show_default=False
        ),
    ] = None,
    vocabulary: Vocabularies = None,
    language: OfBytes = None,
    as_json: AsJson = False,
) -> None:
    """Print one JSON line per notification (with and without --json): what it matches, and how well.

    With PATTERN and --csv readings are searched for what follows what: columns are attributes by name, and
    source, event, number and time_s where they are known; their order makes no difference.

    {"n": 0, "matches": [[3, 215]]} says that line 0 of the notifications matches line 3 of the subscriptions
    with degree 215 of 255; lines count from 0. What a language says beyond the degree follows. A bad
    line is named on stderr, the rest is still matched, and the command ends 1. With --batch lines come in the
    order in which they complete; n tells which.
    """
    if pattern is not None or readings is not None:
        _match_stream(pattern, readings, vocabulary, language, as_json=as_json)
        return
    if subscriptions is None or notifications is None:
        raise typer.BadParameter("give --subscriptions and --notifications, or a PATTERN and --csv")
    import json

    from dens.app.languages import chosen_language, matcher_for_lines, with_options
    from dens.app.vectors import vector_lines
    from dens.cli import console
    from dens.cli.waiting import announce_compiling
    from plugins.authoring.output.match_lines import BadLine, LineMatcher
    from plugins.registry import authoring_of

    chosen = chosen_language(language)
    authoring = None if chosen.authoring is None else authoring_of(chosen)
    happened_s = _never_said if authoring is None else authoring.happened_s
    detail_value = (None if authoring is None else authoring.detail_value) or bytes.hex
    announce_compiling()
    named = with_options(chosen, algorithm, options or [])
    matcher = LineMatcher(matcher_for_lines(chosen, vocabulary, named, features.value), happened_s)
    with vector_lines(subscriptions) as lines:
        matcher.add(lines)
    bad = len(matcher.bad)
    for line in matcher.bad:
        console.say(f"{subscriptions}: {line}", style="red")
    if level is not None:
        _use_level(matcher.matcher, level, batch)
    with vector_lines(notifications) as lines:
        for found in (
            matcher.match(lines, now) if batch is None else matcher.match_in_batches(lines, batch, now)
        ):
            if isinstance(found, BadLine):
                console.say(f"{notifications}: {found}", style="red")
                bad += 1
            else:
                typer.echo(json.dumps(found.as_document(detail_value)))
    raise typer.Exit(exits.FINDING if bad else exits.FINE)


def _match_stream(
    pattern: str | None,
    readings: Path | None,
    vocabulary: list[str] | None,
    language: str | None,
    *,
    as_json: bool,
) -> None:
    """Search a table of readings for one subscription."""
    if pattern is None or readings is None:
        raise typer.BadParameter("a PATTERN and --csv go together")
    from dens.app.languages import given_subscription
    from dens.app.reading_tables import read_readings
    from dens.app.tables import chosen_table
    from dens.cli import console
    from dens.cli.failures import problem_document
    from plugins.registry import authoring_of, offered

    table = chosen_table(vocabulary)
    given = given_subscription(pattern, table, None, language)
    search = offered(authoring_of(given.language).match_stream, given.language, "matching of streams")
    for warning in () if given.compiled is None else given.compiled.warnings:
        console.say(str(warning), style="yellow")
    question = given.language.lookup(table).question(body_of(given.vector))
    events = {one.event for one in question.alternatives or ()}
    rows = read_readings(readings, table, [event for event in table.events if event.index in events])
    for warning in rows.warnings:
        console.say(str(warning), style="yellow")
    found = search(given.vector, table, given.compiled, rows.readings)
    if as_json:
        sources = {str(number): name for number, name in rows.names.items()}
        problems = [problem_document(warning) for warning in rows.warnings]
        console.print_document({**found.as_document(), "sources": sources, "problems": problems})
    else:
        for line in found.lines():
            typer.echo(line)
    raise typer.Exit(exits.FINDING if rows.warnings else exits.FINE)


def _use_level(matcher: "Matcher | LevelledMatcher", level: str, batch: int | None) -> None:
    """Let a matcher order its batches; what cannot be is a mistake in the command line."""
    if batch is None:
        raise typer.BadParameter("it orders batches; give --batch too", param_hint="--level")
    if not hasattr(matcher, "use_level"):
        raise typer.BadParameter("this algorithm has no levels", param_hint="--level")
    if level != "auto" and not level.isdecimal():
        raise typer.BadParameter(
            f'"{level}" is no level: write a number from 1 on, or auto', param_hint="--level"
        )
    try:
        matcher.use_level(None if level == "auto" else int(level))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--level") from None


def _never_said(notification: bytes) -> None:
    """Notifications of a language that nobody writes say nothing of their time."""
