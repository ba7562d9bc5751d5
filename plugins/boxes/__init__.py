"""The language of boxes, number 5: crisp conditions with alternatives (docs/how-to/boxes.md)."""

from typing import Final

NAMESPACE: Final = "urn:dens:boxes:1"
"""The XML namespace of its documents."""

ALGORITHM_NAMES: Final = ("blocks", "rtree", "scan")
"""Names of the box indexes, the default first. `plugins.boxes.indexes` has the classes, and imports NumPy."""
