"""`dens match`: matches notifications or readings with subscriptions."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dens.cli.options import AsJson, OfBytes, Vocabularies
from dens.config import exit_codes as exits


class Features(StrEnum):
    """When a subscription is a candidate for a notification."""

    SUBSET = "subset"
    EXACT = "exact"


def match(
    pattern: Annotated[
        str | None,
        typer.Argument(
            metavar="PATTERN", help="With --csv: a composite subscription, in XML or hex.", show_default=False
        ),
    ] = None,
    subscriptions: Annotated[
        Path | None,
        typer.Option("--subscriptions", metavar="FILE", help="Subscription vectors in hex, one per line."),
    ] = None,
    notifications: Annotated[
        Path | None,
        typer.Option("--notifications", metavar="FILE", help="Notification vectors in hex, one per line."),
    ] = None,
    readings: Annotated[
        Path | None,
        typer.Option("--csv", metavar="DATA", help="Readings to search for PATTERN.", show_default=False),
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Matching algorithm; case is ignored.", show_default=False),
    ] = None,
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--with", metavar="OPTION=X", help="Option of the algorithm; repeatable.", show_default=False
        ),
    ] = None,
    features: Annotated[
        Features, typer.Option(help="Attributes of a subscription: subset of the notification's, or equal.")
    ] = Features.SUBSET,
    now: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**31,
            metavar="S",
            help="Current time in seconds, for the age of events.",
            show_default=False,
        ),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="B", help="Match batches of B; print in order of completion.", show_default=False
        ),
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(
            metavar="L|auto",
            help="With --batch: order by the work estimated at level L.",
            show_default=False,
        ),
    ] = None,
    vocabulary: Vocabularies = None,
    language: OfBytes = None,
    as_json: AsJson = False,
) -> None:
    """Match notifications with subscriptions.

    Prints one JSON line per notification. {"n": 0, "matches": [[3, 215]]}: line 0 of the notifications
    matches line 3 of the subscriptions with degree 215 of 255. Lines count from 0. Some languages add a
    third value. An invalid line is reported on stderr, the others are matched, and the exit code is 1.

    With PATTERN and --csv, search readings for a composite event. Columns are attributes by name, and
    source, event, number and time_s; rows can be in any order.
    """
    if pattern is not None or readings is not None:
        _match_stream(pattern, readings, vocabulary, language, as_json=as_json)
        return
    if subscriptions is None or notifications is None:
        raise typer.BadParameter("give --subscriptions and --notifications, or PATTERN and --csv")
    import json

    from dens.app.subscriptions.match import read_lines
    from dens.cli import console
    from dens.cli.waiting import announce_compiling
    from plugins.authoring.output.vector_lines import BadLine

    announce_compiling()
    matching = read_lines(
        subscriptions,
        vocabulary=vocabulary,
        language=language,
        algorithm=algorithm,
        options=options or (),
        features=features.value,
    )
    bad = len(matching.bad)
    for line in matching.bad:
        console.say(f"{subscriptions}: {line}", style="red")
    if level is not None:
        if batch is None:
            raise typer.BadParameter("--level orders batches; give --batch too", param_hint="--level")
        matching.use_level(level)
    for found in matching.match(notifications, now, batch):
        if isinstance(found, BadLine):
            console.say(f"{notifications}: {found}", style="red")
            bad += 1
        else:
            typer.echo(json.dumps(found.as_document(matching.detail_value)))
    raise typer.Exit(exits.FINDING if bad else exits.FINE)


def _match_stream(
    pattern: str | None,
    readings: Path | None,
    vocabulary: list[str] | None,
    language: str | None,
    *,
    as_json: bool,
) -> None:
    if pattern is None or readings is None:
        raise typer.BadParameter("PATTERN and --csv belong together; give both")
    from dens.app.subscriptions.match import match_readings
    from dens.app.subscriptions.subscription import read_subscription
    from dens.app.tables import chosen_table
    from dens.cli import console
    from dens.cli.failures import problem_document

    table = chosen_table(vocabulary)
    given = read_subscription(pattern, table, None, language)
    for warning in given.warnings:
        console.say(str(warning), style="yellow")
    found = match_readings(given, readings, table)
    for warning in found.warnings:
        console.say(str(warning), style="yellow")
    if as_json:
        sources = {str(number): name for number, name in found.sources.items()}
        problems = [problem_document(warning) for warning in found.warnings]
        console.print_document({**found.document, "sources": sources, "problems": problems})
    else:
        for line in found.lines:
            typer.echo(line)
    raise typer.Exit(exits.FINDING if found.warnings else exits.FINE)
