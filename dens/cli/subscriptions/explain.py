"""`dens explain`: explains a subscription, and why values match or do not."""

from pathlib import Path
from typing import Annotated

import typer

from dens.cli.options import AsJson, OfBytes, OtherThesaurus, Vocabularies


def explain(
    subscription: Annotated[
        str,
        typer.Argument(metavar="FILE|HEX", help="A subscription: a document, a vector, or a file of one."),
    ],
    value: Annotated[
        list[str] | None,
        typer.Option(
            "--value",
            metavar="ATTRIBUTE=X",
            help="Value of a reading to evaluate; repeatable.",
            show_default=False,
        ),
    ] = None,
    publication: Annotated[
        Path | None,
        typer.Option(
            "--publication", metavar="FILE", help="Publication to evaluate instead.", show_default=False
        ),
    ] = None,
    age: Annotated[int, typer.Option(min=0, help="Age of the event in seconds.")] = 0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File for the picture: .svg or .html.")
    ] = None,
    vocabulary: Vocabularies = None,
    thesaurus: OtherThesaurus = None,
    language: OfBytes = None,
    as_json: AsJson = False,
) -> None:
    """Explain a subscription in words, and draw its curves.

    Degrees are computed by the code that runs on boards.
    """
    from dens.app.subscriptions.explain import explain as explain_subscription
    from dens.app.subscriptions.subscription import is_document, read_subscription
    from dens.app.tables import chosen_table, other_thesaurus
    from dens.cli import console
    from dens.cli.failures import problem_document
    from dens.config.atomic_write import write_whole
    from dens.config.refusal import Refusal

    if output is not None and output.suffix not in (".svg", ".html"):
        raise typer.BadParameter(f"-o {output}: the name must end in .svg or .html")
    table = chosen_table(vocabulary)
    words = other_thesaurus(thesaurus) if is_document(subscription) else None
    given = read_subscription(subscription, table, words, language)
    for warning in given.warnings:
        console.say(str(warning), style="yellow")
    values = _values(value or [])
    explanation = explain_subscription(given, values, table, publication=publication, age_s=age)
    picture = explanation.picture
    if output is not None:
        if picture is None:
            raise Refusal(f"the {given.language} language draws no pictures")
        title, lines = subscription, list(explanation.lines)
        drawn = picture.page(lines, title) if output.suffix == ".html" else picture.svg()
        write_whole(output, drawn.encode())
    if as_json:
        problems = [problem_document(warning) for warning in given.warnings]
        console.print_document({**explanation.document, "problems": problems})
        return
    for line in explanation.lines:
        console.out().print(line, markup=False)
    if output is not None:
        typer.echo(f"picture: {output}")
    elif picture is not None:
        console.out().print()
        for line in picture.terminal():
            console.out().print(line, markup=False)


def _values(given: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for item in given:
        name, equals, text = item.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"--value {item!r}: use ATTRIBUTE=X, such as heart_rate=120")
        if name.strip() in values:
            raise typer.BadParameter(f"--value {name.strip()} is given twice")
        values[name.strip()] = text.strip()
    return values
