"""A number for each of many keys of 32 bits, whichever of them are used: pages that are made when needed."""

from typing import Final

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint32]

PAGE_BITS: Final = 10
"""A page has 1,024 numbers: the keys of four origins, 4 KiB."""
_IN_PAGE: Final = (1 << PAGE_BITS) - 1


class PagedNumbers:
    """Maps keys to numbers; a key that was never put has 0."""

    __slots__ = ("_pages",)

    def __init__(self) -> None:
        self._pages: dict[int, Keys] = {}

    def get(self, key: int) -> int:
        """Return the number of a key."""
        page = self._pages.get(key >> PAGE_BITS)
        return 0 if page is None else int(page[key & _IN_PAGE])

    def put(self, key: int, number: int) -> None:
        """Set the number of one key."""
        self._page(key >> PAGE_BITS)[key & _IN_PAGE] = number

    def put_all(self, keys: Keys, numbers: Keys) -> None:
        """Set the numbers of many keys."""
        order = np.argsort(keys, kind="stable")
        keys, numbers = keys[order], numbers[order]
        pages, begins = np.unique(keys >> PAGE_BITS, return_index=True)
        ends = [*begins.tolist(), len(keys)][1:]
        for page, begin, end in zip(pages.tolist(), begins.tolist(), ends, strict=True):
            self._page(page)[keys[begin:end] & _IN_PAGE] = numbers[begin:end]

    def _page(self, number: int) -> Keys:
        page = self._pages.get(number)
        if page is None:
            page = self._pages[number] = np.zeros(1 << PAGE_BITS, np.uint32)
        return page
