"""Names of the box indexes, separate from their code, which imports NumPy."""

from typing import Final

ALGORITHM_NAMES: Final = ("blocks", "rtree", "scan")
"""The default first; `plugins.boxes.indexes` has the classes."""
