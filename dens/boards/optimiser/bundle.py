"""Turns the package `watchdog` into what a board without folders can import: a few flat, small modules."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import watchdog
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
"""Assumptions for a small board: subset features, sorted features (FNIFS), plain aggregators, one source that
always runs, no tags."""

_ROM_LOCALS = """
a b c d e f g n r NO a2 a4 b3 b4 b5 bl bx c3 c4 c5 d3 d4 d5 e4 e5 f2 g4 g5 gc on os pi rx tx up
"""

_ROM_OTHERS = """
COW MEH ODD ODE SAD YES add asr bpm buf clz cmp cos end exp get i2c key ldr log lsl lsr mem mov mrs nop
off pin pop say scl sda sep sin spi sub sys tan wfi DUCK EVEN FUNK NYAN XMAS acos addr and_ args asin
atan bits blit ceil copy crop data down fabs fill find fmod freq init join keys ldrb ldrh left loop love
math mem8 miso mode modf mosi movt movw name pack pin0 pin1 pin2 pin3 pin4 pin5 pin6 pin7 pin8 pin9 pins
play push rbit read scan sclk sdiv seed send show sing size sort sqrt step stop strb strh text this time
uart udiv uint wait ANGRY BADDY BLUES CHASE GHOST HAPPY HEART HOUSE Image SILLY SKULL SMILE SNAKE SWORD
align array atan2 audio clear close const count cpsid cpsie debug delay floor frexp get_x get_y get_z
group image index is_on isinf isnan items label ldexp ldrex lower mem16 mem32 mouth movwt music panic
pin10 pin11 pin12 pin13 pin14 pin15 pin16 pin19 pin20 pitch power queue radio reset rfind right shake
sleep speed split start strex strip throw ticks touch trunc uname union upper utime value width write
"""

ROM_LOCALS = tuple(_ROM_LOCALS.split())
"""Names in the ROM of the micro:bit's firmware, which cost no heap; any other identifier costs its letters
and at least seven bytes for ever. For arguments and local variables: one or two letters, none the name of a
builtin.
"""

ROM_OTHERS = tuple(_ROM_OTHERS.split())
"""For functions, classes and attributes: three to five letters, none the name of a builtin."""


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
    """Yield the statements of a module on a board that has only the modules in `home`: a guarded import of
    another one is replaced by its fallback.
    """
    for node in ast.parse(source).body:
        if isinstance(node, ast.Try):
            imported = {inner.module or "" for inner in node.body if isinstance(inner, ast.ImportFrom)}
            if any(name.startswith("watchdog.") and name[9:] not in home for name in imported):
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
    inlined: frozenset[str] = frozenset(),
) -> dict[str, str]:
    """Return the flat, minified modules of these parts and of programs that use them, by module name.

    A part is a flat module and the modules of the package that it is made of, in order. Integer constants
    may come from any module of the package; everything else must be in some part. What may be `assumed` of
    variables, attributes and constants everywhere, as in SMALL_BOARD, is worked in. With
    `together` the modules are to be loaded piece by piece into one namespace, and the functions in `inlined`
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
        (ROM_LOCALS, ROM_OTHERS),
        together,
        inlined,
    )
    for name, source in small.items():
        if "watchdog." in source:
            raise ValueError(f"{name} needs a module of the package that is in no part:\n{source[:300]}")
    return small
