"""How groups move, as a scenario file says it: one of the tables of all models that there are."""

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from emulation.mobility.registry import mobility_models
from emulation.mobility.table import AnyMobilityTable
from emulation.table_kinds import known_kind

if TYPE_CHECKING:
    MobilitySettings = AnyMobilityTable
else:  # which classes there are is known when outside packages have been asked
    MobilitySettings = Annotated[
        reduce(or_, mobility_models().values()),
        Field(discriminator="model"),
        known_kind("model", "mobility model", list(mobility_models())),
    ]
