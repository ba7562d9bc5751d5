"""What all tables of a scenario file have in common, and the kinds of values that several of them use."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
"""Lower case, digits and underscores: names become parts of file names and of trace columns."""
NotNegative = Annotated[float, Field(ge=0)]
Metres = Annotated[float, Field(gt=0, le=1e7)]
"""A length on the ground: up to ten thousand kilometres."""
Speed = Annotated[float, Field(gt=0, le=10_000)]
"""Metres per second: up to what leaves the earth."""


class Settings(BaseModel):
    """A table of the file: frozen, unknown keys forbidden, no infinities."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
