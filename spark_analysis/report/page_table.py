"""A table of the report, as HTML."""

from collections.abc import Iterable, Sequence
from html import escape


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], text_columns: Sequence[int] = ()
) -> str:
    """Return a table whose first column and `text_columns` stand left, and numbers right."""

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
