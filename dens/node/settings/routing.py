"""Routing settings of node files and scenarios. All mediators of a mission route in the same way."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from dens.overlay.broker.options import BrokerOptions
from plugins.routing import MergingOptions, RoutingOptions, Thresholds

Routing = Literal["carry", "broker", "flood"]
Share = Annotated[float, Field(ge=0, le=1)]


class RoutingTable(BaseModel):
    """A table of a file: unknown keys are refused, and values are not converted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class MergingSettings(RoutingTable):
    """How similar subscriptions must be to be merged by brokers."""

    overlap: Share = 0.5
    possibility: Share = 1.0
    necessity: Share = 0.0
    thresholds: Thresholds = "min"


class BrokerSettings(RoutingTable):
    """Which optimisations brokers use, and how long they wait for a lost neighbour."""

    covering: bool = True
    merging: MergingSettings | None = None
    advertisements: bool = True
    patience_s: Annotated[float, Field(gt=0, le=86_400)] = 60.0

    @property
    def spared(self) -> RoutingOptions:
        """Return the options for the routing relations of languages."""
        merging = None if self.merging is None else MergingOptions(**self.merging.model_dump())
        return RoutingOptions(self.covering, merging)

    def options(self, routing: Routing) -> BrokerOptions:
        """Return the options of a broker."""
        return BrokerOptions(routing == "flood", self.advertisements, int(1000 * self.patience_s))
