"""A picture as a page of its own."""

from collections.abc import Iterable
from html import escape


def page_of(title: str, sentences: Iterable[str], picture: str) -> str:
    """Return an HTML page that stands alone: a title, sentences, and a picture in SVG."""
    words = "<br>".join(escape(sentence) for sentence in sentences)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<body><h1>{escape(title)}</h1><p>{words}</p>{picture}</body></html>\n"
    )
