"""The folder of a run while it is written. After a failure it is removed.

The manifest is written first, so that another program can follow the run. Its status is `running` until the
run ends, then it is replaced atomically. `running` in a folder that no process has locked means that the run
was killed and is partial. An earlier run that is being replaced is kept beside the folder under a name that
begins with a dot, and restored if the new run fails.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dens.config.atomic_write import write_whole
from dens.trace.folder_lock import FolderLock
from dens.trace.writer import TraceError, parts_of_tables


class RunFolder:
    """The folder of one run, as a context manager. An error undoes everything."""

    def __init__(self, out: Path, *, force: bool) -> None:
        """Refuse a folder that is not empty, except an earlier run with `force`."""
        self.path = out
        self._earlier = out.parent / f".{out.name}.replaced"
        if self._earlier.exists() and not out.exists():
            self._earlier.rename(out)  # a process was killed just before it began
        _refuse_occupied(out, force)

    def __enter__(self) -> Self:
        """Put an earlier run aside, make the folder and lock it."""
        if self.path.is_dir():
            FolderLock(self.path).release()  # raises if another process is still writing it
        _or_refused(self.path, self._begin)
        self._hold = FolderLock(self.path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Delete the earlier run, or restore it after a failure."""
        self._hold.release()
        if error is not None:
            shutil.rmtree(self.path, ignore_errors=True)
            if self._earlier.exists():
                self._earlier.rename(self.path)
        shutil.rmtree(self._earlier, ignore_errors=True)

    def write(self, name: str, document: Mapping[str, Any]) -> None:
        """Write a JSON file of the run."""
        write_document(self.path, name, document)

    def _begin(self) -> None:
        if self.path.exists() and any(self.path.iterdir()):
            if self._earlier.exists():
                shutil.rmtree(self.path)  # a run that was killed while it replaced the earlier one
            else:
                self.path.rename(self._earlier)
        self.path.mkdir(parents=True, exist_ok=True)


def write_document(run: Path, name: str, document: Mapping[str, Any]) -> None:
    """Write a JSON file of a run atomically.

    The manifest of a complete run also has the number of parts per table, so that a lost part is detected.
    """
    if name == "manifest.json" and document.get("status") == "complete":
        document = {**document, "parts": parts_of_tables(run)}
    text = json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    try:
        write_whole(run / name, text.encode(), within=run)
    except OSError as error:
        reason = error.strerror or str(error)
        raise TraceError(error.errno, f"cannot write the trace: {reason}", str(run / name)) from error


def _refuse_occupied(out: Path, force: bool) -> None:
    if not out.exists():
        return
    if not out.is_dir():
        raise FileExistsError(f"{out} is a file; name a folder for the run")
    if not any(out.iterdir()):
        return
    if not (out / "manifest.json").is_file():
        raise FileExistsError(f"{out} holds something that is not a run; name another folder")
    if not force:
        raise FileExistsError(f"{out} holds an earlier run; name another folder, or replace it with --force")


def _or_refused(path: Path, action: Callable[[], None]) -> None:
    try:
        action()
    except OSError as error:
        raise TraceError(error.errno, f"cannot write there: {error.strerror or error}", str(path)) from error
