"""Lays programs out so that a board with ten kilobytes of heap can load them.

A board's compiler needs several times as much heap as what it compiles will take, and leaves what it made
behind where the heap was free at that moment. So everything runs in one namespace and is loaded a function at
a time, the largest first, so that what is left free at the end lies in one piece; in between comes what sets
the objects up, whose functions are thrown away afterwards.
"""

import ast
from collections.abc import Iterable, Mapping, Sequence

from dens.boards.optimiser.bundle import SMALL_BOARD, bundle

FILE_BYTES = 2560
"""No file is larger; larger ones are no trouble for this loader, but for people's editors on small boards."""

LARGE = 250
"""Characters of a piece that is loaded before anything else, while the heap is empty."""

LOADER = """import gc
try:
 for k in range(%d):
  f=open('dens%%d.py'%%k);n=f.read(6)
  while n:
   gc.collect();exec(f.read(int(n[1:])));n=f.read(6)
  f.close()
except MemoryError:
 from microbit import reset;reset()
gc.collect()
"""
"""Ten kilobytes are just enough, and how the heap breaks up while loading differs a little between starts:
a board that finds no room starts again."""


def laid_out(
    parts: Mapping[str, Sequence[str]],
    programs: Mapping[str, str],
    constants: Mapping[str, int | str] | None = None,
    start: str = "run()\n",
    before: str = "",
    last: str = "",
    inlined: frozenset[str] = frozenset(),
) -> dict[str, str]:
    """Return the files of a board: main.py, which does `before`, loads the others and then does `start`.

    `programs` are the board's own sources by name; the first sets up, and the one called `last` is loaded
    in one piece when nothing else needs the heap for being read. `constants` are filled in for names in
    capital letters, or a function's name where another is called. Functions in `inlined` stand where they are
    called. Every file can also be read as Python.
    """
    assumed = {**SMALL_BOARD, **(constants or {})}
    called = frozenset(node.id for node in ast.walk(ast.parse(start)) if isinstance(node, ast.Name))
    modules = bundle(parts, programs, called | {"run"}, assumed, together=True, inlined=inlined)
    setup, *others = programs
    pieces = [
        piece + "\n"
        for name in [*parts, *others]
        if name != last
        for piece in modules[name].strip("\n").split("\n\n")
        if piece.strip()
    ]
    steps = [
        (ast.get_source_segment(modules[setup], node) or "") + "\n" for node in ast.parse(modules[setup]).body
    ]
    only_made_with = set(_needed("".join(steps), pieces)) - set(_needed(_others(pieces, steps), pieces))
    rest = sorted((piece for piece in pieces if piece not in only_made_with), key=len, reverse=True)
    order = [piece for piece in rest if len(piece) >= LARGE]
    for step in steps:
        order += [piece for piece in _needed(step, pieces) if piece not in order]
        order.append(step)
    order += [piece for piece in rest if piece not in order]
    if last:
        order.append(modules[last].strip("\n") + "\n")
    files = [""]
    for piece in order:
        text = f"#{len(piece):04d}\n{piece}"
        if files[-1] and len(files[-1]) + len(text) > FILE_BYTES:
            files.append("")
        files[-1] += text
    main = before + LOADER % len(files) + start
    return {"main.py": main} | {f"dens{k}.py": text for k, text in enumerate(files)}


def _others(pieces: Sequence[str], steps: Sequence[str]) -> str:
    """Return the pieces that are not functions that only the set-up calls."""
    called = {
        node.func.id
        for step in steps
        for node in ast.walk(ast.parse(step))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return "".join(piece for piece in pieces if not set(_defined(piece)) & called & _deleted(steps))


def _deleted(pieces: Iterable[str]) -> set[str]:
    """Return the names that are deleted again."""
    return {
        target.id
        for piece in pieces
        for node in ast.parse(piece).body
        if isinstance(node, ast.Delete)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _needed(making: str, pieces: Iterable[str]) -> list[str]:
    """Return the pieces that the set-up runs, and those that they run."""
    homes = {name: piece for piece in pieces for name in _defined(piece)}
    found: list[str] = []
    waiting = [making]
    while waiting:
        for node in ast.walk(ast.parse(waiting.pop())):
            piece = homes.get(node.id) if isinstance(node, ast.Name) else None
            if piece is not None and piece not in found:
                found.append(piece)
                waiting.append(piece)
    return found


def _defined(piece: str) -> list[str]:
    """Return the names that a piece gives a meaning."""
    names = []
    for node in ast.parse(piece).body:
        if isinstance(node, ast.FunctionDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return names
