"""`dens replay`: plain messages over a recorded contact trace, for comparison with other simulators."""

from pathlib import Path
from typing import Annotated

import typer

from dens.cli.options import AsJson


def replay(
    contacts: Annotated[
        Path,
        typer.Option("--contacts", metavar="FILE", help="A recording: The ONE, DTNSim2 or CSV; .gz too."),
    ],
    messages: Annotated[
        Path,
        typer.Option("--messages", metavar="FILE", help="The ONE's created messages, or `time id from to`."),
    ],
    ideal: Annotated[
        bool, typer.Option("--ideal", metavar="", help="Transfers are instant (default).")
    ] = False,
    transfer_s: Annotated[
        float | None,
        typer.Option(
            metavar="Q", help="Seconds a transfer takes, one at a time per node.", show_default=False
        ),
    ] = None,
    ttl_s: Annotated[
        float | None,
        typer.Option(metavar="T", help="Lifetime of a message; none by default.", show_default=False),
    ] = None,
    least_s: Annotated[
        float, typer.Option(min=0.0, metavar="S", help="Lengthen shorter contacts to this.")
    ] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Carry unicast messages over recorded contacts, epidemically, and print what became of them."""
    from dens.cli import console
    from emulation.contacts.formats.registry import read_contacts
    from emulation.replay.flood import replay as carry
    from emulation.replay.messages import read_messages

    if ideal and transfer_s is not None:
        raise typer.BadParameter("--ideal and --transfer-s exclude each other")
    for name, value in (("--transfer-s", transfer_s), ("--ttl-s", ttl_s)):
        if value is not None and not 0 < value < float("inf"):
            raise typer.BadParameter(f"{name} must be a positive number of seconds")
    if not least_s < float("inf"):
        raise typer.BadParameter("--least-s must be a number of seconds")
    recorded = read_contacts(contacts, least_s * 1000.0)
    result = carry(recorded, read_messages(messages, recorded), transfer_s, ttl_s)
    document = result.as_document()
    if as_json:
        console.print_document(document)
        return
    console.print_figures(document)
