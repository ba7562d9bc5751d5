"""What a scenario file may say of links that last, and of what publishers advertise over them. How mediators
route is said as in a node's file (`dens.node.settings.routing`).
"""

from typing import Annotated, Literal

from pydantic import Field

from emulation.settings_base import Name, NotNegative, Settings

LinkKind = Literal["tree", "line", "star", "grid", "random"]
CIRCLES: frozenset[LinkKind] = frozenset({"grid", "random"})
"""The kinds of links in which one can go round in a circle."""


class LinksSettings(Settings):
    """Links that last, in the place of those that follow from motion: between mediators, and of every other
    device to one of them."""

    kind: LinkKind
    degree: Annotated[float, Field(gt=0, le=1_000)] | None = None
    """Of a tree how many hang below each, of a random graph how many links each has on average."""


class AdvertisementSettings(Settings):
    """Every publisher of a group advertises what this XML file says, at this time, and may take it back."""

    group: Name
    file: Annotated[str, Field(min_length=1)]
    at_s: NotNegative = 0.0
    withdrawn_at_s: NotNegative | None = None
