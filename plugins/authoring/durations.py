"""How long a subscription lives, as authors write it: a duration (`knowledge_manager.durations`), or the code
of a lifetime itself, as a decompiled vector has it.
"""

import re
from typing import Final

_CODE: Final = re.compile(r"code:(0|[1-9][0-9]{0,2})")
"""Digits as everybody writes them: none in front that counts for nothing, no more than a byte can have."""


def given_lifetime_code(text: str) -> int | None:
    """Return the code that `code:N` gives, 0 to 255; None where it is something else."""
    found = _CODE.fullmatch(text)
    return int(found[1]) if found is not None and int(found[1]) <= 255 else None
