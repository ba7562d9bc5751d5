"""What all tables of a scenario file have in common, and the kinds of values that several of them use."""

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
"""Metres per second: up to what leaves the earth."""

NotificationLifetime = Annotated[float, Field(ge=1, le=LONGEST_LIFETIME_S)]
"""Seconds that a notification lives; ages on the air end at 49.7 days."""


class Settings(BaseModel):
    """A table of the file: frozen, unknown keys forbidden, no infinities, and nothing that would have to be
    read as something else first: neither `"1"` nor `true` is a number, neither `"yes"` nor 1 a truth."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _nothing_is_read_as_something_else(cls, table: Any) -> Any:
        if not isinstance(table, dict):
            return table
        fields = {field.alias or name: field.annotation for name, field in cls.model_fields.items()}
        return {
            key: _without_misfits(value, _kinds_in(fields[key])) if key in fields else value
            for key, value in table.items()
        }


def _kinds_in(annotation: Any) -> set[Any]:
    """Return the types of the single values in an annotation, those of a table's keys left out."""
    if get_origin(annotation) is Annotated:
        return _kinds_in(get_args(annotation)[0])
    if get_origin(annotation) is dict:
        return _kinds_in(get_args(annotation)[1])
    inner = [one for one in get_args(annotation) if one is not NoneType and one is not Ellipsis]
    return {kind for one in inner for kind in _kinds_in(one)} if inner else {annotation}


def _without_misfits(value: Any, kinds: set[Any]) -> Any:
    """Return the value with every text and truth in the place of a number, and every text and number in the
    place of a truth, made into what can be neither, so that it is refused at its place."""
    if isinstance(value, dict):
        return {key: _without_misfits(one, kinds) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_without_misfits(one, kinds) for one in value]
    is_misfit = (kinds <= {int, float} and isinstance(value, str | bool)) or (
        kinds == {bool} and not isinstance(value, bool)
    )
    return object() if is_misfit else value
