"""`dens help`: error pages and guides on the terminal."""

from typing import Annotated

import typer

from dens.cli.options import AsJson
from dens.config import exit_codes as exits


def help_(
    topic: Annotated[
        str | None,
        typer.Argument(
            metavar="CODE|GUIDE", help="An error code such as D102, or a guide.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show an error page or a guide; without a topic, list them."""
    from dens.app.tools.pages import error_pages, guides, read_page
    from dens.cli import console

    if topic is None:
        listed = {"guides": guides(), "errors": error_pages()}
        if as_json:
            console.print_document(listed)
        else:
            width = max(len(name) for titles in listed.values() for name in titles)
            for heading, titles in listed.items():
                typer.echo(f"{heading}:")
                for name, title in titles.items():
                    typer.echo(f"  {name:<{width}}  {title}")
    else:
        page = read_page(topic)
        if as_json:
            console.print_document({"topic": topic, "page": page})
        elif console.out().is_terminal:
            from rich.markdown import Markdown

            console.out().print(Markdown(page))
        else:
            typer.echo(page, nl=False)
    raise typer.Exit(exits.FINE)
