"""Where things stand, for tests that read pages, run commands or look at sources."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
"""The folder of the project."""
DOCS: Final = ROOT / "docs"
KINDS: Final = ("how-to", "reference", "explanation", "papers")
"""The folders of documentation pages. The tutorial and the table of contents are directly in docs/."""


def page_path(name: str) -> Path:
    """Return the path of a page of docs/, such as `node.md`, in whichever kind it is."""
    (path,) = [path for path in (DOCS / name, *(DOCS / kind / name for kind in KINDS)) if path.is_file()]
    return path
