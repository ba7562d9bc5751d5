"""Settings of permanent links and advertisements in a scenario file. The settings of brokers are those of a
node's file (`dens.node.settings.routing`).
"""

from typing import Annotated, Literal

from pydantic import Field

from emulation.settings_base import Name, NotNegative, Settings

LinkKind = Literal["tree", "line", "star", "grid", "random"]
CIRCLES: frozenset[LinkKind] = frozenset({"grid", "random"})
"""The kinds of links that have cycles."""


class LinksSettings(Settings):
    """Permanent links instead of contacts from motion: between mediators, and of every other device to one of
    them."""

    kind: LinkKind
    degree: Annotated[float, Field(gt=0, le=1_000)] | None = None
    """Children per node of a tree, or mean degree of a random graph."""


class AdvertisementSettings(Settings):
    """Every publisher of a group advertises this XML file at this time, and may withdraw it."""

    group: Name
    file: Annotated[str, Field(min_length=1)]
    at_s: NotNegative = 0.0
    withdrawn_at_s: NotNegative | None = None
