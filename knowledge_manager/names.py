"""Names of event classes, attributes and terms: words in letters of any script."""

import unicodedata
from typing import Final

LONGEST_NAME: Final = 64
"""Characters."""


def composed(name: str) -> str:
    """Return the name in the one form in which it is compared (NFC): ä typed in two strokes is ä."""
    return unicodedata.normalize("NFC", name)


def fault_of_name(name: str) -> str | None:
    """Return what keeps a text from being a name, in words; None where nothing does.

    A name is a letter, then letters, digits and underscores, so that a `<function>` can call it. Letters that
    are only another shape of others (ﬁ for fi) are refused, because nobody could tell the two names apart.
    """
    if len(name) > LONGEST_NAME:
        return f"has {len(name)} characters, and {LONGEST_NAME} is the most"
    if not name.isidentifier() or name.startswith("_"):
        return "is no name; it begins with a letter, of any script, and goes on with letters, digits and _"
    if unicodedata.normalize("NFKC", name) != name:
        plain = unicodedata.normalize("NFKC", name)
        return f'has letters that are other shapes of usual ones; write "{plain}"'
    return None
