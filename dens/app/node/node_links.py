"""Links of a subscriber or publisher to its DENS node."""

from typing import TYPE_CHECKING

from dens.app.errors import BadArgument

if TYPE_CHECKING:
    from dens.node.processes.addresses import Links
    from dens.node.settings.node_file import NodePlan


def end_links(plan: "NodePlan", number: int, at: str | None) -> "Links":
    """Return the links from an endpoint with this number to the DENS node."""
    from dens.node.processes.addresses import links_of_end
    from dens.node.settings.schema import address_of

    if number == plan.settings.node:
        raise BadArgument(f"{number} is the number of the DENS node itself; choose another one", "--as")
    try:
        address = None if at is None else address_of(at)
    except ValueError:
        raise BadArgument(f"{at!r} is not an address; use the form 127.0.0.1:7001", "--at") from None
    return links_of_end(plan, address)
