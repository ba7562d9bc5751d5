"""Lifetimes in documents: a duration (`knowledge_manager.durations`), or an encoded lifetime, as decompiled
vectors have it.
"""

import re
from typing import Final

_CODE: Final = re.compile(r"code:(0|[1-9][0-9]{0,2})")
"""No leading zeros, at most three digits."""


def given_lifetime_code(text: str) -> int | None:
    """Return N of `code:N`, 0 to 255, or None."""
    found = _CODE.fullmatch(text)
    return int(found[1]) if found is not None and int(found[1]) <= 255 else None
