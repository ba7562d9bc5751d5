"""Attributes of root elements in several languages: lifetime and minimum degrees."""

import math
import re
from typing import Final

from knowledge_manager.durations import duration_s, written_duration
from plugins.authoring.constants import plain_number
from plugins.authoring.xml.reader import Complains, attempted
from plugins.authoring.xml.spans import Span
from watchdog.lifetime import LONGEST_LIFETIME_S, lifetime_code

DEFAULT_VALID_S: Final = 86400

_CODE: Final = re.compile(r"code:(0|[1-9][0-9]{0,2})")
"""An encoded lifetime, as decompiled vectors have it. No leading zeros, at most three digits."""


def given_lifetime_code(text: str) -> int | None:
    """Return N of `code:N`, 0 to 255, or None."""
    match = _CODE.fullmatch(text)
    return int(match[1]) if match is not None and int(match[1]) <= 255 else None


def read_fifteenths(text: str | None, name: str, span: Span, reader: Complains) -> int:
    """Return the minimum degree in fifteenths, rounded up, so that no match is below the requested degree."""
    if text is None:
        return 0
    wanted = attempted(reader, span, plain_number, text)
    if wanted is not None and not 0 <= wanted <= 1:
        reader.complain(span, "D118", f"{name} {wanted:g} is outside 0..1")
        return 0
    return max(0, math.ceil(15 * (wanted or 0.0) - 1e-9))


def read_valid(
    text: str | None,
    span: Span,
    reader: Complains,
    absent_s: int = DEFAULT_VALID_S,
    name: str = "valid",
) -> int:
    """Return the encoded lifetime of a duration or of a code. `name` is the attribute."""
    if text is None:
        return lifetime_code(absent_s)
    text = text.strip()
    if (code := given_lifetime_code(text)) is not None:
        return code
    seconds = duration_s(text)
    if seconds is None or not 0 < seconds <= LONGEST_LIFETIME_S:
        longest = f", up to {written_duration(LONGEST_LIFETIME_S)}"
        codes = ", or code:0 to code:255" if text.startswith("code:") else ""
        wanted = f"it is a positive duration such as PT2H or P7D{longest}{codes}"
        reader.complain(span, "D119", f'{name} is "{text}"; {wanted}')
        return 0
    return lifetime_code(math.ceil(seconds))
