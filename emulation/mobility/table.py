"""The settings of a mobility model in a scenario file: a table with the model's name and its parameters.

The table is in the module of its model; `registry.py` lists them all.
"""

from abc import ABC, abstractmethod
from typing import Annotated, get_args

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from emulation.mobility.model import MobilityModel
from emulation.settings_base import NotNegative, Settings, Speed


def _least_first(pair: tuple[float, float]) -> tuple[float, float]:
    least, most = pair
    if least > most:
        raise PydanticCustomError(
            "D302", "[{least}, {most}]: the least must not be above the most", {"least": least, "most": most}
        )
    return pair


SpeedRange = Annotated[tuple[Speed, Speed], AfterValidator(_least_first)]
PauseRange = Annotated[tuple[NotNegative, NotNegative], AfterValidator(_least_first)]


class AnyMobilityTable(Settings):
    """How a group moves. `model` is a `Literal` with the name of the model."""

    model: str

    def turns(self, width_m: float, height_m: float, duration_s: float) -> float:
        """Return a lower estimate of a node's turns in a run, so that models that would fill the memory are
        refused; 0 without such a risk.
        """
        return 0.0


class MobilityTable(AnyMobilityTable, ABC):
    """The table of a model that needs nothing else of the scenario, which includes all models of other
    packages.
    """

    @abstractmethod
    def mobility(self) -> MobilityModel:
        """Return the model with these settings."""


def model_name(table: type[AnyMobilityTable]) -> str:
    """Return the name of a table's model; empty if it has none."""
    names = get_args(table.model_fields["model"].annotation)
    return names[0] if len(names) == 1 and isinstance(names[0], str) else ""
