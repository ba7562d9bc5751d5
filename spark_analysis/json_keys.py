"""Answers as plain data for JSON.

A key is the name of the field, or the one in its metadata if the field was renamed: keys never change.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

_KEY: Final = "json_key"

EXPECTED: Final = {_KEY: "owed"}
"""Metadata of a field that counts expected deliveries."""
UNEXPECTED_COMPOSITES: Final = {_KEY: "unowed"}
UNEXPECTED_DELIVERIES: Final = {_KEY: "not_owed"}
PREDICTIONS: Final = {_KEY: "foretold"}


def key_of(field: Any) -> str:
    """Return the key of a dataclass field."""
    return str(field.metadata.get(_KEY, field.name))


def to_document(value: Any) -> Any:
    """Return an answer as plain data. Tuples become lists, as in JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return {key_of(field): to_document(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: to_document(part) for key, part in value.items()}
    return [to_document(part) for part in value] if isinstance(value, tuple | list) else value
