"""Every kind of board that programs are built for, by name."""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Final

from dens.boards import models
from dens.boards.board import Board


def _boards() -> dict[str, Board]:
    modules = (import_module(f"{models.__name__}.{module.name}") for module in iter_modules(models.__path__))
    return {module.BOARD.name: module.BOARD for module in modules}


BOARDS: Final[Mapping[str, Board]] = MappingProxyType(_boards())
FLAT_BOARDS: Final = tuple(name for name, board in BOARDS.items() if board.is_flat)
FOLDER_BOARDS: Final = tuple(name for name, board in BOARDS.items() if not board.is_flat)
