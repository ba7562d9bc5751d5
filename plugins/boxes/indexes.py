"""All box indexes by name."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import numpy.typing as npt

from plugins.boxes.blocks import BlocksIndex
from plugins.boxes.index import BoxIndex, LevelledIndex
from plugins.boxes.rtree import RTreeIndex
from plugins.boxes.scan import ScanIndex

IndexFactory = Callable[[int, npt.DTypeLike], BoxIndex]
"""(number of attributes, uint8 or uint16) → an empty index."""

INDEXES: Final[Mapping[str, IndexFactory]] = MappingProxyType(
    {"scan": ScanIndex, "rtree": RTreeIndex, "blocks": BlocksIndex}
)

DEFAULT_INDEX: Final = "blocks"


def levelled(index: BoxIndex) -> LevelledIndex | None:
    """Return the index if it has levels, else None."""
    return index if isinstance(index, RTreeIndex | BlocksIndex) else None
