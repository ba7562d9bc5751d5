"""`dens explain`: what a subscription means, and why a value does or does not match."""

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
            "--value", metavar="ATTRIBUTE=X", help="A reading to try; repeat it.", show_default=False
        ),
    ] = None,
    publication: Annotated[
        Path | None,
        typer.Option("--publication", metavar="FILE", help="What somebody told, to try.", show_default=False),
    ] = None,
    age: Annotated[int, typer.Option(min=0, help="Age of the event in seconds.")] = 0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the picture here: .svg or .html.")
    ] = None,
    vocabulary: Vocabularies = None,
    thesaurus: OtherThesaurus = None,
    language: OfBytes = None,
    as_json: AsJson = False,
) -> None:
    """Put a subscription into words, byte by byte, and draw its curves.

    Degrees are computed by the code that runs on the boards.
    """
    from dens.app.files import write_whole
    from dens.app.languages import given_subscription, is_document, publication_in
    from dens.app.tables import chosen_table, other_thesaurus
    from dens.cli import console
    from dens.cli.failures import problem_document
    from plugins.registry import authoring_of, offered

    if output is not None and output.suffix not in (".svg", ".html"):
        raise typer.BadParameter(f"-o {output}: the name must end in .svg or .html")
    table = chosen_table(vocabulary)
    words = other_thesaurus(thesaurus) if is_document(subscription) else None
    given = given_subscription(subscription, table, words, language)
    authoring, compiled = authoring_of(given.language), given.compiled
    explain_vector = offered(authoring.explain, given.language, "explanations")
    warnings = compiled.warnings if compiled else ()
    for warning in warnings:
        console.say(str(warning), style="yellow")
    if publication is not None and value:
        raise typer.BadParameter("give values or a publication, not both", param_hint="--publication")
    if publication is None:
        explanation = explain_vector(given.vector, table, _values(value or []), age)
    else:
        told = publication_in(publication, given.language, table)
        explain_told = offered(authoring.explain_notification, given.language, "explanations of publications")
        explanation = explain_told(given.vector, table, told)
    remarks = compiled.remarks if compiled else ()
    lines = [*explanation.lines(), *(f"note: {remark}" for remark in remarks)]
    draw = authoring.picture
    if output is not None:
        draw = offered(draw, given.language, "pictures")
    picture = None if draw is None else draw(given.vector, table, compiled)
    if output is not None and picture is not None:
        drawn = picture.page(lines, subscription) if output.suffix == ".html" else picture.svg()
        write_whole(output, drawn.encode())
    if as_json:
        problems = [problem_document(warning) for warning in warnings]
        console.print_document({**explanation.as_document(), "remarks": list(remarks), "problems": problems})
        return
    for line in lines:
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
            raise typer.BadParameter(f"--value {item!r}: write ATTRIBUTE=X, such as heart_rate=120")
        if name.strip() in values:
            raise typer.BadParameter(f"--value {name.strip()} is given twice")
        values[name.strip()] = text.strip()
    return values
