"""Normalises the markup, dates and names of feeds."""

import email.utils
import re
from datetime import UTC
from html.parser import HTMLParser
from typing import Final

from knowledge_manager.graphs.terms import DATE, INSTANT, Literal, is_ill_formed, literal

LONGEST_TEXT: Final = 160
"""Maximum characters. Longer texts are truncated before publication, so that every node matches the same
graph: an item of this size fits into one or two frames.
"""

_CUT: Final = "…"
_HIDDEN: Final = frozenset({"script", "style", "head"})
_WITHIN_LINES: Final = (
    "a abbr acronym b bdi bdo big cite code em font i ins kbd mark q s samp small span strong sub sup tt u "
    "var"
)
_IN_A_LINE: Final = frozenset(_WITHIN_LINES.split())
_WITH_ADDRESS: Final = re.compile(r"\S+@\S+\s+\((.+)\)")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SHORT_INSTANT: Final = re.compile(r"(.*T[0-9]{2}:[0-9]{2})(Z|[+-][0-9]{2}:[0-9]{2})?")
_ZONE_WITHOUT_COLON: Final = re.compile(r"([+-][0-9]{2})([0-9]{2})$")


def plain(markup: str) -> str:
    """Return the visible text of HTML in one line. Text without markup is unchanged."""
    return _one_line(_Words(keeps_addresses=False).of(markup))


def plain_query(markup: str) -> str:
    """Return a query that was pasted into an HTML editor: paragraphs become lines, and `<http://…>`, which
    looks like a tag, is kept as an IRI.
    """
    return _Words(keeps_addresses=True).of(markup).replace("\u00a0", " ").strip()


def shortened(text: str) -> str:
    """Return the text truncated to `LONGEST_TEXT` characters at a word boundary."""
    if len(text) <= LONGEST_TEXT:
        return text
    head = text[: LONGEST_TEXT - len(_CUT)]
    if not text[len(head)].isspace():
        head = head[: head.rfind(" ")] if " " in head else head
    return head.rstrip() + _CUT


def moment(text: str) -> Literal:
    """Return a feed date (RFC 822, W3C profile of ISO 8601) as an instant or a date, or as text if it is
    neither.
    """
    text = _one_line(text)
    if _DAY.fullmatch(text):
        found = literal(text, DATE)
        return literal(text) if is_ill_formed(found) else found
    short = _SHORT_INSTANT.fullmatch(text)
    found = literal(
        _ZONE_WITHOUT_COLON.sub(r"\1:\2", text if short is None else _with_seconds(short)), INSTANT
    )
    if not is_ill_formed(found):
        return found
    try:
        read = email.utils.parsedate_to_datetime(text)
        aware = read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError, IndexError):
        return literal(text)
    return literal(aware.replace(tzinfo=None).isoformat() + "Z", INSTANT)


def person(text: str) -> str:
    """Return a person's name; of `mail@example.org (Name)` the name."""
    text = _one_line(text)
    found = _WITH_ADDRESS.fullmatch(text)
    return text if found is None else found[1].strip()


def _with_seconds(found: re.Match[str]) -> str:
    return f"{found[1]}:00{found[2] or ''}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


class _Words(HTMLParser):
    """Collects visible text. Block elements end words."""

    def __init__(self, *, keeps_addresses: bool) -> None:
        super().__init__(convert_charrefs=True)
        self._keeps_addresses = keeps_addresses
        self._seen: list[str] = []
        self._hidden = 0

    def of(self, markup: str) -> str:
        if "<" not in markup and "&" not in markup:
            return markup
        self.feed(markup)
        self.close()
        return "".join(self._seen)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._keeps_addresses and ":" in tag:
            self._seen.append(self.get_starttag_text() or "")
        elif tag in _HIDDEN:
            self._hidden += 1
        elif tag not in _IN_A_LINE:
            self._seen.append("\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _HIDDEN:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag not in _IN_A_LINE and ":" not in tag:
            self._seen.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._seen.append(data)
