"""`dens match`: which notifications satisfy which subscriptions, line by line."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from studio import exits
from studio.options import AsJson, Vocabularies


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
        typer.Option(metavar="S", help="Time in seconds, which gives events an age.", show_default=False),
    ] = None,
    vocabulary: Vocabularies = None,
    as_json: AsJson = False,
) -> None:
    """Print one JSON line per notification (with and without --json): what it matches, and how well.

    A bad line is named on stderr, the rest is still matched, and the command ends 1.
    """
    import json

    from plugins.fuzzy.match import DEFAULT_ALGORITHM
    from plugins.fuzzy.match_lines import BadLine, LineMatcher
    from studio import console
    from studio.tables import chosen_table

    with subscriptions.open(encoding="ascii", errors="replace") as lines:
        matcher = LineMatcher.of_lines(
            lines,
            chosen_table(vocabulary) if vocabulary else None,
            algorithm or DEFAULT_ALGORITHM,
            features.value,
        )
    bad = len(matcher.bad)
    for line in matcher.bad:
        console.say(str(line), style="red")
    with notifications.open(encoding="ascii", errors="replace") as lines:
        for found in matcher.match(lines, now):
            if isinstance(found, BadLine):
                console.say(str(found), style="red")
                bad += 1
            else:
                typer.echo(json.dumps(found.as_document()))
    raise typer.Exit(exits.FINDING if bad else exits.FINE)
