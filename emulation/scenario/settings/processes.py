"""Processes of SimPy that a scenario names."""

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from emulation.settings_base import Settings


def _float_of_decimal(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


Parameter = Annotated[bool | int | float | str, BeforeValidator(_float_of_decimal)]


class ProcessSettings(Settings):
    """A process of SimPy: a generator function of a Python file, which is called with the run and with these
    parameters."""

    file: Annotated[str, Field(min_length=1)]
    function: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] = "process"
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    files: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Files that the function reads, by `run.file`. A run keeps copies of them."""
    moves: bool = False
    """Whether the function calls `run.move`."""
