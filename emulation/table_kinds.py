"""Tables of several kinds, distinguished by a key, and the message for an unknown kind."""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from dens.config.problems import did_you_mean, likely_meant, listed


def known_kind(key: str, what: str, known: Sequence[str]) -> BeforeValidator:
    """Return a validator that refuses a table of an unknown kind and lists the known ones."""

    def check(table: Any) -> Any:
        named = table.get(key) if isinstance(table, dict) else None
        if isinstance(named, str) and named not in known:
            raise PydanticCustomError(
                "D302",
                'unknown {what} "{named}"{hint} ({known})',
                {
                    "what": what,
                    "named": named,
                    "hint": did_you_mean(named, known),
                    "known": listed(known),
                    "meant": likely_meant(named, known),
                    "meant_at": key,
                },
            )
        return table

    return BeforeValidator(check)


def tag(kind: str) -> str:
    """Return the tag of a kind. It contains a space, so that it cannot be confused with a key of the file."""
    return f"a {kind}"


def kind_by(key: str, default: str) -> Callable[[Any], str]:
    """Return a function from a table to its tag, by this key; without the key it is the default kind."""

    def kind_of(table: Any) -> str:
        return tag(table.get(key, default) if isinstance(table, dict) else getattr(table, key, default))

    return kind_of
