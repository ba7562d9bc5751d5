"""Where things stand, for tests that read pages, run commands or look at sources."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
"""The folder of the project."""
