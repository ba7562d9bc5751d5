"""How an end that was called on the command line reaches its DENS node."""

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from dens.node.processes.addresses import Links
    from dens.node.settings.node_file import NodePlan


def end_links(plan: "NodePlan", number: int, at: str | None) -> "Links":
    """Return how an end with this number reaches the DENS node; what the command line says wrongly is its
    fault.
    """
    from dens.node.processes.addresses import links_of_end
    from dens.node.settings.schema import address_of

    if number == plan.settings.node:
        raise typer.BadParameter(
            f"{number} is the DENS node's own number; give another one", param_hint="--as"
        )
    try:
        address = None if at is None else address_of(at)
    except ValueError:
        raise typer.BadParameter(f"{at!r} is no address; give 127.0.0.1:7001", param_hint="--at") from None
    return links_of_end(plan, address)
