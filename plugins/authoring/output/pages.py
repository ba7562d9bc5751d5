"""A drawing as a standalone page."""

from collections.abc import Iterable
from html import escape


def page_of(title: str, sentences: Iterable[str], picture: str) -> str:
    """Return a standalone HTML page: a title, sentences, and an SVG drawing."""
    words = "<br>".join(escape(sentence) for sentence in sentences)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<body><h1>{escape(title)}</h1><p>{words}</p>{picture}</body></html>\n"
    )
