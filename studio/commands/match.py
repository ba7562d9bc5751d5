"""`dens match`: which notifications satisfy which subscriptions, line by line."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from documents import exit_codes as exits
from studio.options import AsJson, OfBytes, Vocabularies


class Features(StrEnum):
    """When a subscription is a candidate for a notification."""

    SUBSET = "subset"
    EXACT = "exact"


def match(
    subscriptions: Annotated[
        Path, typer.Option("--subscriptions", metavar="FILE", help="One subscription vector in hex a line.")
    ],
    notifications: Annotated[
        Path, typer.Option("--notifications", metavar="FILE", help="One notification vector in hex a line.")
    ],
    algorithm: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Matching algorithm; case is ignored.", show_default=False),
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
    vocabulary: Vocabularies = None,
    language: OfBytes = None,
    as_json: AsJson = False,
) -> None:
    """Print one JSON line per notification (with and without --json): what it matches, and how well.

    {"n": 0, "matches": [[3, 215]]} says that line 0 of the notifications matches line 3 of the subscriptions
    with degree 215 of 255; lines count from 0. What a language says beyond the degree follows in hex. A bad
    line is named on stderr, the rest is still matched, and the command ends 1.
    """
    import json

    from plugins.authoring.match_lines import BadLine, LineMatcher
    from plugins.registry import authoring_of
    from studio import console
    from studio.languages import chosen_language, matcher_for_lines
    from studio.vectors import vector_lines
    from studio.waiting import announce_compiling

    chosen = chosen_language(language)
    happened_s = authoring_of(chosen).happened_s if chosen.authoring is not None else _never_said
    announce_compiling()
    matcher = LineMatcher(matcher_for_lines(chosen, vocabulary, algorithm, features.value), happened_s)
    with vector_lines(subscriptions) as lines:
        matcher.add(lines)
    bad = len(matcher.bad)
    for line in matcher.bad:
        console.say(f"{subscriptions}: {line}", style="red")
    with vector_lines(notifications) as lines:
        for found in matcher.match(lines, now):
            if isinstance(found, BadLine):
                console.say(f"{notifications}: {found}", style="red")
                bad += 1
            else:
                typer.echo(json.dumps(found.as_document()))
    raise typer.Exit(exits.FINDING if bad else exits.FINE)


def _never_said(notification: bytes) -> None:
    """Notifications of a language that nobody writes say nothing of their time."""
