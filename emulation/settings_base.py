"""The base of all tables of a scenario file, and types of values that several of them use."""

from types import NoneType
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, model_validator

from watchdog.lifetime import LONGEST_LIFETIME_S

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
"""Lower case, digits and underscores: names become parts of file names and of trace columns."""
NotNegative = Annotated[float, Field(ge=0)]
Metres = Annotated[float, Field(gt=0, le=1e7)]
"""A length on the ground: up to ten thousand kilometres."""
Speed = Annotated[float, Field(gt=0, le=10_000)]
"""Metres per second, up to about escape velocity."""

NotificationLifetime = Annotated[float, Field(ge=1, le=LONGEST_LIFETIME_S)]
"""The lifetime of a notification in seconds; ages on the air are limited to 49.7 days."""


class Settings(BaseModel):
    """A table of the file: frozen, without unknown keys, infinities and coercion. Neither `"1"` nor `true` is
    a number, neither `"yes"` nor 1 a boolean.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _forbid_coercion(cls, table: Any) -> Any:
        if not isinstance(table, dict):
            return table
        fields = {field.alias or name: field.annotation for name, field in cls.model_fields.items()}
        return {
            key: _without_misfits(value, _kinds_in(fields[key])) if key in fields else value
            for key, value in table.items()
        }


def _kinds_in(annotation: Any) -> set[Any]:
    """Return the types of the single values in an annotation, without those of a table's keys."""
    if get_origin(annotation) is Annotated:
        return _kinds_in(get_args(annotation)[0])
    if get_origin(annotation) is dict:
        return _kinds_in(get_args(annotation)[1])
    inner = [argument for argument in get_args(annotation) if argument not in (NoneType, Ellipsis)]
    return {kind for argument in inner for kind in _kinds_in(argument)} if inner else {annotation}


def _without_misfits(value: Any, kinds: set[Any]) -> Any:
    """Replace every text or boolean where a number is expected, and every text or number where a boolean is,
    by an object that pydantic refuses at the same position.
    """
    if isinstance(value, dict):
        return {key: _without_misfits(item, kinds) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_misfits(item, kinds) for item in value]
    is_misfit = (kinds <= {int, float} and isinstance(value, str | bool)) or (
        kinds == {bool} and not isinstance(value, bool)
    )
    return object() if is_misfit else value
