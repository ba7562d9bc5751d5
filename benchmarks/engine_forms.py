"""The forms in which our text can be measured side by side: as it is, compiled, and as it was.

"As it was" is one fixed commit, the last before the emulator was made lean. Where the history is at hand it
is unpacked into .build and runs in the same minutes on the same machine: a ratio to a figure that was
measured elsewhere would say nothing. Where it is not, figures stand alone.
"""

import io
import json
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.sizes import SMALL
from dens.compiled import choose_form, find_record

ROOT: Final = Path(__file__).parent.parent
EARLIER_COMMIT: Final = "b39a92cd4ad5e201c345ad33c8c4611815decb38"
PURE: Final = "pure"
COMPILED: Final = "compiled"
EARLIER: Final = "earlier"


@dataclass(frozen=True, slots=True)
class Form:
    """One text in one form, which runs in processes of its own."""

    name: str
    folder: Path

    def run(self, program: str, *arguments: str) -> Any:
        """Run a program of Python; return the JSON document that it prints last."""
        environment = {"PYTHONPATH": str(self.folder), "PATH": "", "DENS_PURE": str(int(self.name == PURE))}
        ended = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            env=environment,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return json.loads(ended.stdout.splitlines()[-1])


def forms() -> list[Form]:
    """Return the forms that there are here; pure Python always is one."""
    found = [Form(PURE, ROOT)]
    if choose_form(find_record()[1], "").is_compiled:
        found.append(Form(COMPILED, ROOT))
    if not SMALL and (folder := _earlier()) is not None:
        found.append(Form(EARLIER, folder))
    return found


def _earlier() -> Path | None:
    folder = ROOT / ".build" / f"earlier-{EARLIER_COMMIT[:7]}"
    if not folder.is_dir():
        archive = subprocess.run(
            ["git", "archive", "--format=tar", EARLIER_COMMIT], cwd=ROOT, capture_output=True, check=False
        )
        if archive.returncode:
            return None
        part = folder.with_suffix(".part")
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as file:
            file.extractall(part, filter="data")
        part.rename(folder)
    return folder
