"""Turns the package `watchdog` into what a board without folders can import: a few flat, small modules."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import watchdog
from dens.boards.optimiser import rom_names
from dens.boards.optimiser.minify import minify
from dens.boards.optimiser.specialise import plain_constants

_PACKAGE = Path(watchdog.__file__).parent

ONE_BYTE_FEATURES: Mapping[str, int | str | None] = {"F": 1, "feature_bytes": 1}
SMALL_BOARD: Mapping[str, int | str | None] = {
    **ONE_BYTE_FEATURES,
    "exact": 0,
    "EARLY": 0,
    "flat": 0,
    "covering": 0,
    "SHARING": 0,
    "combine": None,
    "PATTERNS": 0,
    "SOURCES": 0,
    "LOYAL": 0,
    "authenticator": None,
    "tries": 0,
}
"""What is so on a board without room: subset features, features in order (FNIFS), the plain aggregators, one
source that is always there, no tags."""


def flatten(sources: Mapping[str, str], parts: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Join package modules into flat ones; imports inside of one vanish, those of others name the flat
    module.

    `sources` holds every module by its name in the package, and others (a main program) that are only
    rewritten.
    """
    home = {module: flat for flat, modules in parts.items() for module in modules}
    result = {}
    for flat, modules in [*parts.items(), *((name, (name,)) for name in sources if name not in home)]:
        lines: list[str] = []
        for module in modules:
            for node in _statements(sources[module], home):
                line = ast.unparse(node)
                if isinstance(node, ast.ImportFrom):
                    line = _flat_import(node, flat, home)
                    if line in lines:
                        continue
                lines.append(line)
        result[flat] = "\n".join(lines) + "\n"
    return result


def _statements(source: str, home: Mapping[str, str]) -> Iterator[ast.stmt]:
    """Yield what a module does where only the modules in `home` are: a guarded import of another one is what
    is done without it.
    """
    for node in ast.parse(source).body:
        if isinstance(node, ast.Try):
            asked = {one.module or "" for one in node.body if isinstance(one, ast.ImportFrom)}
            if any(name.startswith("watchdog.") and name[9:] not in home for name in asked):
                yield from node.handlers[0].body
                continue
        yield node


def _flat_import(node: ast.ImportFrom, flat: str, home: Mapping[str, str]) -> str:
    """Return an import of a package module as an import of its flat one; nothing when it is the same."""
    if node.module is None or not node.module.startswith("watchdog."):
        return ast.unparse(node)
    there = home.get(node.module.removeprefix("watchdog."), node.module)
    if there == flat:
        renamed = [
            f"{alias.asname} = {alias.name}" for alias in node.names if alias.asname not in (None, alias.name)
        ]
        if renamed:
            raise ValueError(f"{flat}: {'; '.join(renamed)}: an alias of something in the same flat module")
        return ""
    node.module = there
    return ast.unparse(node)


def bundle(
    parts: Mapping[str, Sequence[str]],
    programs: Mapping[str, str] | None = None,
    keep: frozenset[str] = frozenset(),
    assumed: Mapping[str, int | str | None] | None = None,
    together: bool = False,
    poured: frozenset[str] = frozenset(),
) -> dict[str, str]:
    """Return the flat, minified modules of these parts and of programs that use them, by module name.

    A part is a flat module and the modules of the package that it is made of, in order. Integer constants
    may come from any module of the package; everything else must be in some part. What may be `assumed` of
    variables, attributes and constants everywhere, as in SMALL_BOARD, is worked in. With
    `together` the modules are to be loaded piece by piece into one namespace, and the functions in `poured`
    stand where they are called.
    """
    package = {path.stem: path.read_text(encoding="utf-8") for path in _PACKAGE.glob("*.py")}
    sources = {module: package[module] for modules in parts.values() for module in modules}
    constants: dict[str, int | bytes] = {}
    for source in package.values():
        for name, value in plain_constants(ast.parse(source)).items():
            if constants.setdefault(name, value) != value and not name.startswith("_"):
                raise ValueError(f"{name} is {value!r} in one module and {constants[name]!r} in another")
    small = minify(
        flatten(sources | dict(programs or {}), parts),
        constants,
        keep,
        assumed,
        (rom_names.LOCALS, rom_names.OTHERS),
        together,
        poured,
    )
    for name, source in small.items():
        if "watchdog." in source:
            raise ValueError(f"{name} needs a module of the package that is in no part:\n{source[:300]}")
    return small
