"""`dens contacts`: who met whom, from a scenario's motion or from a recording; statistics and conversion."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from studio.options import AsJson

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
    form: Annotated[str, typer.Option("--format", help="Form of the output: one, dtnsim2 or csv.")] = "one",
    as_json: AsJson = False,
) -> None:
    """Print statistics of contacts, and convert them between the forms of other simulators."""
    from emulation.contacts.formats.registry import FORMATS
    from emulation.contacts.statistics import contact_statistics
    from studio import console
    from studio.files import write_whole

    if form not in FORMATS:
        raise typer.BadParameter(f"--format {form}: there are {', '.join(FORMATS)}")
    found = _contacts_of(source, seed, least_s)
    if output is not None:
        write_whole(output, "".join(f"{line}\n" for line in FORMATS[form].lines(found)).encode())
    document = contact_statistics(found).as_document()
    if as_json:
        console.print_document(document)
        return
    console.print_figures(document)


def _contacts_of(source: str, seed: int | None, least_s: float) -> "Contacts":
    path = Path(source)
    if path.suffix != ".toml" and path.is_file():
        from emulation.contacts.formats.registry import read_contacts

        return read_contacts(path, least_s * 1000.0)
    from emulation.motion import scenario_contacts
    from emulation.scenario import load_scenario

    scenario = load_scenario(source)
    return scenario_contacts(scenario, scenario.seed if seed is None else seed)
