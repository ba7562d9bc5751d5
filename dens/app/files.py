"""Finds input files in folders, and writes output files atomically."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from dens.config.refusal import Refusal

_RUN_CONTENTS: Final = ("manifest.json", "trace")
"""Contents of the folder of a run. Its copies of input files are not input."""


def gather(paths: Iterable[Path], suffixes: tuple[str, ...]) -> list[Path]:
    """Return the files, and for each folder the files in and below it that have one of the suffixes. Folders
    of runs are skipped.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found.extend(sorted(p for p in _files_below(path) if p.suffix in suffixes))
        else:
            found.append(path)
    return found


def _files_below(folder: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        if entry.is_file():
            yield entry
        elif entry.is_dir() and not entry.is_symlink() and not _is_run(entry):
            yield from _files_below(entry)


def _is_run(folder: Path) -> bool:
    return all((folder / name).exists() for name in _RUN_CONTENTS)


def write_all(folder: Path, suffix: str, contents: Iterable[tuple[Path, bytes]]) -> None:
    """Write one output per input file, with the same stem. Nothing is written if two would have one name."""
    from dens.config.atomic_write import write_whole

    made: dict[str, tuple[Path, bytes]] = {}
    for path, content in contents:
        name = f"{path.stem}{suffix}"
        if name in made:
            raise Refusal(
                f"{made[name][0]} and {path} would both be written to {folder / name}; nothing was written. "
                "Rename one of them, or use two output folders"
            )
        made[name] = path, content
    for name, (_, content) in made.items():
        write_whole(folder / name, content)
