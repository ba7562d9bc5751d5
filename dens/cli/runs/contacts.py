"""`dens contacts`: prints statistics of contacts, and converts recordings."""

from pathlib import Path
from typing import Annotated

import typer

from dens.cli.options import AsJson


def contacts(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO|FILE", help="A scenario (name or .toml), or a recording of contacts."
        ),
    ],
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**63 - 1, help="Seed; the scenario's by default.", show_default=False),
    ] = None,
    least_s: Annotated[
        float, typer.Option(min=0.0, metavar="S", help="Lengthen shorter contacts of a recording to this.")
    ] = 0.0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File for the contacts.", show_default=False)
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", help="Format of the output: one (default), dtnsim2 or csv.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print statistics of contacts, and convert contact recordings."""
    from dens.app.runs.contacts import contact_document, read_contacts
    from dens.cli import console
    from dens.config.atomic_write import write_whole
    from emulation.contacts.formats.registry import FORMATS
    from emulation.contacts.statistics import contact_statistics

    if form is not None and form not in FORMATS:
        raise typer.BadParameter(f"--format {form}: use one of {', '.join(FORMATS)}")
    if form is not None and output is None:
        raise typer.BadParameter("--format is the format of the output; name its file with -o")
    if not least_s < float("inf"):
        raise typer.BadParameter("--least-s must be a finite number of seconds")
    found = read_contacts(source, seed, least_s)
    if found.is_planned:
        console.say("nodes are redirected during a run; these are the contacts as planned")
    if output is not None:
        lines = FORMATS[form or "one"].lines(found.contacts)
        write_whole(output, "".join(f"{line}\n" for line in lines).encode())
    document = contact_document(contact_statistics(found.contacts, found.end_ms))
    if as_json:
        console.print_document(document)
        return
    for name in ("contact", "inter_contact"):
        if document[f"{name}_median_s"] is None and document[f"{name}_censored"]:
            document[f"{name}_median_s"] = f"more than {document[f'{name}_watched_s']:,.1f}"
    console.print_figures(document)
    console.say("medians: Kaplan–Meier, including censored times; means: known times only")
