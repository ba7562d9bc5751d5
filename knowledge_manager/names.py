"""Names of event classes, attributes and terms: identifiers in letters of any script."""

import unicodedata
from typing import Final

LONGEST_NAME: Final = 64
"""Characters."""


def normalise_name(name: str) -> str:
    """Return the name in NFC, the form in which names are compared."""
    return unicodedata.normalize("NFC", name)


def name_fault(name: str) -> str | None:
    """Return why a text is not a valid name, or None if it is.

    A name is a letter followed by letters, digits and underscores, so that `<function>` can refer to it.
    Compatibility characters (ﬁ for fi) are rejected because the two names would look the same.
    """
    if len(name) > LONGEST_NAME:
        return f"has {len(name)} characters; the maximum is {LONGEST_NAME}"
    if not name.isidentifier() or name.startswith("_"):
        return "is not a name; use a letter of any script, then letters, digits and _"
    if unicodedata.normalize("NFKC", name) != name:
        plain = unicodedata.normalize("NFKC", name)
        return f'has compatibility characters; write "{plain}"'
    return None
