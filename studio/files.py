"""Files as commands see them: folders are opened up, results appear whole or not at all."""

from collections.abc import Iterable
from pathlib import Path

from documents.atomic_write import write_whole
from documents.refusal import Refusal

__all__ = ["gather", "write_all", "write_whole"]


def gather(paths: Iterable[Path], suffixes: tuple[str, ...]) -> list[Path]:
    """Return the files named, and in place of a folder the files in and below it that have such a suffix."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found.extend(sorted(p for p in path.rglob("*") if p.suffix in suffixes and p.is_file()))
        else:
            found.append(path)
    return found


def write_all(folder: Path, suffix: str, contents: Iterable[tuple[Path, bytes]]) -> None:
    """Write what was made of each file under its name, with another suffix; nothing where two have one name,
    because the second would take the place of the first.
    """
    made: dict[str, tuple[Path, bytes]] = {}
    for path, content in contents:
        name = f"{path.stem}{suffix}"
        if name in made:
            raise Refusal(
                f"{made[name][0]} and {path} would both be written to {folder / name}; nothing was written. "
                "Rename one of them, or write them to two folders"
            )
        made[name] = path, content
    for name, (_, content) in made.items():
        write_whole(folder / name, content)
