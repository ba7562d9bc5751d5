"""`dens contacts`: who met whom, from a scenario's motion or from a recording; statistics and conversion."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dens.cli.options import AsJson

if TYPE_CHECKING:
    from emulation.contacts.contact import Contacts


def contacts(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO|FILE", help="A scenario (name or .toml), or a recording of contacts."
        ),
    ],
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**63 - 1, help="Another seed than the scenario's."),
    ] = None,
    least_s: Annotated[
        float, typer.Option(min=0.0, metavar="S", help="Lengthen shorter contacts of a recording to this.")
    ] = 0.0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the contacts here.", show_default=False)
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", help="Form of the output: one (by default), dtnsim2 or csv.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print statistics of contacts, and convert them between the forms of other simulators."""
    from dens.app.files import write_whole
    from dens.app.summary import contact_document
    from dens.cli import console
    from emulation.contacts.formats.registry import FORMATS
    from emulation.contacts.statistics import contact_statistics

    if form is not None and form not in FORMATS:
        raise typer.BadParameter(f"--format {form}: there are {', '.join(FORMATS)}")
    if form is not None and output is None:
        raise typer.BadParameter("--format is the form of the output; name its file with -o")
    if not least_s < float("inf"):
        raise typer.BadParameter("--least-s must be a number of seconds")
    found, end_ms = _contacts_of(source, seed, least_s)
    if output is not None:
        write_whole(output, "".join(f"{line}\n" for line in FORMATS[form or "one"].lines(found)).encode())
    document = contact_document(contact_statistics(found, end_ms))
    if as_json:
        console.print_document(document)
        return
    for name in ("contact", "inter_contact"):
        if document[f"{name}_median_s"] is None and document[f"{name}_censored"]:
            document[f"{name}_median_s"] = f"more than {document[f'{name}_watched_s']:,.1f}"
    console.print_figures(document)
    console.say("medians: Kaplan–Meier, with censored times; means: of the known times alone")


def _contacts_of(source: str, seed: int | None, least_s: float) -> "tuple[Contacts, float | None]":
    """Return the contacts, and until when they were watched; a recording says it only by its last one."""
    path = Path(source)
    if path.suffix != ".toml" and (path.exists() or path.suffix or "/" in source):
        from emulation.contacts.formats.registry import read_contacts

        if seed is not None:
            raise typer.BadParameter("--seed is for scenarios; a recording has no chance in it")
        return read_contacts(path, least_s * 1000.0), None
    from dens.cli import console
    from emulation.motion import scenario_contacts
    from emulation.scenario import load_scenario

    if least_s:
        raise typer.BadParameter("--least-s is for recordings; a scenario's contacts are exact")
    scenario = load_scenario(source)
    if scenario.called():
        console.say("nodes are called away during a run; these are the contacts as they are planned before")
    return scenario_contacts(scenario, scenario.seed if seed is None else seed), float(scenario.duration_ms)
