"""HTML of the report: tables, paragraphs, figures."""

from collections.abc import Iterable, Sequence
from html import escape


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], text_columns: Sequence[int] = ()
) -> str:
    """Return a table with the first column and `text_columns` aligned left, all others right."""

    def cells(tag: str, values: Sequence[str]) -> str:
        marks = (' class="text"' if i in text_columns else "" for i in range(len(values)))
        return "".join(
            f"<{tag}{mark}>{escape(value)}</{tag}>" for mark, value in zip(marks, values, strict=True)
        )

    body = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return (
        f"<table>\n<caption>{escape(caption)}</caption>\n"
        f"<thead><tr>{cells('th', head)}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
    )


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>\n" if text else ""


def figure(svg: str) -> str:
    """Return a figure that scrolls on narrow screens and can be focused by keyboard."""
    return f'<div class="figure" tabindex="0">\n{svg}\n</div>\n'


def scrolling(tables: str) -> str:
    return f'<div class="scroll">\n{tables}\n</div>\n'
