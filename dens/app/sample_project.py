"""Writes the sample project of `dens init`."""

from pathlib import Path

from dens.config.atomic_write import write_whole
from dens.config.refusal import Refusal


def write_sample(folder: Path) -> list[Path]:
    """Write the sample project into a new or empty folder; return its files."""
    from importlib.resources import as_file, files

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refusal(f"{folder} exists and is not an empty folder; choose another one")
    written: list[Path] = []
    with as_file(files("dens.app") / "sample") as sample:
        for source in sorted(path for path in sample.rglob("*") if path.is_file()):
            target = folder / source.relative_to(sample)
            write_whole(target, source.read_bytes())
            written.append(target)
    return written
