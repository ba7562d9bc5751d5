"""`dens explain`: what a subscription means, and why a value does or does not match."""

from pathlib import Path
from typing import Annotated

import typer

from studio.options import AsJson, OtherThesaurus, Vocabularies


def explain(
    subscription: Annotated[
        str,
        typer.Argument(metavar="FILE|HEX", help="A subscription: an XML file, a vector, or a file of one."),
    ],
    value: Annotated[
        list[str] | None,
        typer.Option(
            "--value", metavar="ATTRIBUTE=X", help="A reading to try; repeat it.", show_default=False
        ),
    ] = None,
    age: Annotated[int, typer.Option(min=0, help="Age of the event in seconds.")] = 0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the picture here: .svg or .html.")
    ] = None,
    vocabulary: Vocabularies = None,
    thesaurus: OtherThesaurus = None,
    as_json: AsJson = False,
) -> None:
    """Put a subscription into words, byte by byte, and draw its curves.

    Degrees are computed by the code that runs on the boards.
    """
    from documents.reading import read_document
    from plugins.fuzzy.authoring import picture
    from plugins.fuzzy.authoring.compiler import compile_subscription
    from plugins.fuzzy.authoring.explain import explain_vector
    from studio import console
    from studio.files import write_whole
    from studio.tables import chosen_table, other_thesaurus
    from studio.vectors import given_vector

    if output is not None and output.suffix not in (".svg", ".html"):
        raise typer.BadParameter(f"-o {output}: the name must end in .svg or .html")
    table = chosen_table(vocabulary)
    compiled = None
    if subscription.endswith(".xml"):
        source, words = read_document(Path(subscription)), other_thesaurus(thesaurus)
        compiled = compile_subscription(source, subscription, table, thesaurus=words)
        for warning in compiled.warnings:
            console.say(str(warning), style="yellow")
    raw = compiled.vector if compiled else given_vector(subscription)
    explanation = explain_vector(raw, table, _values(value or []), age)
    remarks = compiled.remarks if compiled else ()
    lines = [*explanation.lines(), *(f"note: {remark}" for remark in remarks)]
    panels = picture.panels(raw, table, compiled)
    if output is not None:
        drawn = picture.svg(panels)
        if output.suffix == ".html":
            drawn = picture.page(panels, lines, subscription)
        write_whole(output, drawn.encode())
    if as_json:
        console.print_document({**explanation.as_document(), "remarks": list(remarks)})
        return
    for line in lines:
        console.out().print(line, markup=False)
    if output is None:
        console.out().print()
        for line in picture.terminal(panels):
            console.out().print(line, markup=False)
    else:
        typer.echo(f"picture: {output}")


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
