"""The programs that boards run, as they are written; a build fills in the names in capital letters."""

from pathlib import Path
from typing import Final

_MAINS: Final = Path(__file__).parent / "mains"


def program(name: str) -> str:
    """Return the source of one of dens/boards/mains/."""
    return (_MAINS / (name + ".py")).read_text(encoding="utf-8")
