"""How mediators route, as files of nodes and scenarios say it: all mediators of a mission route alike."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from dens.overlay.broker.options import BrokerOptions
from plugins.routing import MergingOptions, RoutingOptions, Thresholds

Routing = Literal["carry", "broker", "flood"]
Share = Annotated[float, Field(ge=0, le=1)]


class RoutingTable(BaseModel):
    """A table of a file: unknown keys are forbidden, and nothing is read as something else."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class MergingSettings(RoutingTable):
    """How alike subscriptions are that brokers merge."""

    overlap: Share = 0.5
    possibility: Share = 1.0
    necessity: Share = 0.0
    thresholds: Thresholds = "min"


class BrokerSettings(RoutingTable):
    """What brokers spare each other, and how long they wait for a neighbour that is gone."""

    covering: bool = True
    merging: MergingSettings | None = None
    advertisements: bool = True
    patience_s: Annotated[float, Field(gt=0, le=86_400)] = 60.0

    @property
    def spared(self) -> RoutingOptions:
        """Return what languages are asked for."""
        merging = None if self.merging is None else MergingOptions(**self.merging.model_dump())
        return RoutingOptions(self.covering, merging)

    def options(self, routing: Routing) -> BrokerOptions:
        """Return how brokers are made."""
        return BrokerOptions(routing == "flood", self.advertisements, int(1000 * self.patience_s))
