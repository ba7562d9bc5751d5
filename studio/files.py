"""Files as commands see them: folders are opened up, results appear whole or not at all."""

from collections.abc import Iterable
from pathlib import Path

from documents.atomic_write import write_whole

__all__ = ["gather", "write_whole"]


def gather(paths: Iterable[Path], suffixes: tuple[str, ...]) -> list[Path]:
    """Return the files named, and in place of a folder the files in and below it that have such a suffix."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found.extend(sorted(p for p in path.rglob("*") if p.suffix in suffixes and p.is_file()))
        else:
            found.append(path)
    return found
