"""Tables that are of one of several kinds: which kind one is, and what is said when there is no such kind."""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from dens.config.problems import did_you_mean, likely_meant, listed


def known_kind(key: str, what: str, known: Sequence[str]) -> BeforeValidator:
    """Return what refuses a table whose key names no kind, and says which there are."""

    def check(table: Any) -> Any:
        named = table.get(key) if isinstance(table, dict) else None
        if isinstance(named, str) and named not in known:
            raise PydanticCustomError(
                "D302",
                'there is no {what} "{named}"{hint} ({known})',
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
    """Return the tag of a kind. It has a space in it, so that it is no key of the file, and no place is taken
    for another."""
    return f"a {kind}"


def kind_by(key: str, usual: str) -> Callable[[Any], str]:
    """Return what tells the tag of a table from its key; one without it is taken for the usual kind."""

    def kind_of(table: Any) -> str:
        return tag(table.get(key, usual) if isinstance(table, dict) else getattr(table, key, usual))

    return kind_of
