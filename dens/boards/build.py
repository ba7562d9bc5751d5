"""Builds the files of a board: flat, minified modules for the micro:bit, the package itself for boards with
folders (dens/boards/package_files.py).
"""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from dens.boards.board import Board
from dens.boards.board_language import BOARD_CONDITIONS
from dens.boards.built_folder import LISTING, SECRETS, clear, digests, edited
from dens.boards.filter_parts import DEFAULT, FORMS, filter_parts
from dens.boards.optimiser.chunking import laid_out
from dens.boards.package_files import (
    KERNELS,
    NATIVE,
    SUBSCRIPTIONS,
    compiled_modules,
    manifest,
    package_files,
)
from dens.boards.programs import program
from dens.boards.registry import BOARDS, FLAT_BOARDS, FOLDER_BOARDS
from dens.boards.settings import BoardSettings
from dens.config.atomic_write import write_whole
from dens.config.problems import DocumentError, did_you_mean
from dens.config.refusal import Refusal
from knowledge_manager.vocabulary.event_class import Attribute
from watchdog.header import HEADER_ID, HEADER_REVISION
from watchdog.pool import NEVER
from watchdog.sharing import enter
from watchdog.vector import VectorError, check_subscription


def link_parts(algorithm: str) -> dict[str, tuple[str, ...]]:
    """Return the modules of a micro:bit with a serial link (PUB/DENS)."""
    made = filter_parts(algorithm, is_quick=False)
    return {
        "core": made.core,
        "scan": made.scan,
        "host": ("small_host",),
        "transmitter": ("numbers", "transmitter"),
        "publisher": ("publisher",),
        "frames": ("frames",),
    }


def link_assumed(algorithm: str, is_recorded: bool = False) -> dict[str, int | str]:
    """Return the features that it omits for lack of memory (watchdog/grader.py, watchdog/sharing.py), and the
    size of a block of its pool: sixteen subscriptions to three attributes.

    A board that measures one attribute, the temperature of its chip, needs no means; one that replays several
    has room for the curved means with the default algorithm.
    """
    record = 22 if algorithm == "fnif" else 18
    return {
        **filter_parts(algorithm, is_quick=False).assumed,
        "MEANS": int(is_recorded and algorithm == DEFAULT),
        "POOL_BYTES": 5 + record * 16,
    }


BLOCKS = "blocks.bin"
"""The same for a micro:bit: the blocks of its pool."""
BLOCKS_ROOM = 576
"""Bytes of the heap for them, so that enough is left for subscriptions that arrive over the link."""
ALONE_ROOM = 1536
"""The same on a board without a link."""


NEW = ".new"
"""Suffix of a file that would have replaced one that its owner edited."""


class UnknownBoard(Refusal):
    """An unknown board; the message lists the known ones."""


def build_board(
    board: str,
    folder: Path,
    version: str,
    settings: BoardSettings,
    *,
    mpy_cross: Path | None = None,
    subscriptions: Sequence[bytes] = (),
    readings: Sequence[bytes] | None = None,
) -> list[Path]:
    """Write the board's files into a folder that is new, empty, or was built before; return them, sorted.

    Files of an earlier build are removed first, except those that their owner edited: these stay, and the new
    version is written beside them with the suffix NEW. A subscription that the board cannot hold is refused
    before anything is written. On a micro:bit `readings` (a mask and seven values each) replace a sensor.
    """
    if board not in BOARDS:
        raise UnknownBoard(f"unknown board {board}; boards are {', '.join(sorted(BOARDS))}")
    if readings is not None and board not in FLAT_BOARDS:
        raise Refusal(f"recorded readings are for a micro:bit; on a {board} write them into sensors.py")
    _check_forms(board, settings)
    _check_kernels(board, settings)
    _check_condition(settings)
    limits = BOARDS[board].with_forms(settings.forms)
    if (reason := limits.algorithm_fault(settings.algorithm)) is not None:
        raise Refusal(reason)
    packed = packed_subscriptions(subscriptions, limits)
    binaries: dict[str, bytes] = {}
    if board in FLAT_BOARDS:
        blocks = pool_blocks(subscriptions, settings.algorithm)
        room = BLOCKS_ROOM
        instead = ", or send them over its link"
        if settings.is_linked:
            files = _microbit_files(settings, blocks, readings is not None)
        else:
            files = _alone_files(settings, blocks, readings is not None)
            room = ALONE_ROOM
            instead = ""
        taken = sum(16 + (len(block) + 15) // 16 * 16 for block in blocks)
        if taken > room:
            raise Refusal(
                f"{len(subscriptions)} subscriptions take {taken} bytes of a micro:bit's heap and "
                f"{room} are free; give it fewer{instead}"
            )
        if blocks:
            binaries[BLOCKS] = b"".join(blocks)
    else:
        files = package_files(board, settings)
        _check_room(board, subscriptions, settings.algorithm)
        if packed:
            binaries[SUBSCRIPTIONS] = packed
    if readings is not None:
        binaries["readings.bin"] = b"".join(readings)
    if board in FOLDER_BOARDS and mpy_cross is not None:
        modules = {name: files.pop(name) for name in sorted(files) if "/" in name}
        binaries = compiled_modules(board, modules, mpy_cross) | binaries
    kept = edited(folder, files)
    clear(folder, kept)
    beside = [LISTING]
    for name, text in files.items():
        if name in kept:
            beside.append(name + NEW)
        place = folder / (name + NEW if name in kept else name)
        write_whole(place, text.encode(), private=name in SECRETS)
        if name in SECRETS and name in kept:
            (folder / name).chmod(0o600)  # its owner filled it in, but an older build made it
    for name, content in binaries.items():
        write_whole(folder / name, content)
    names = [*sorted(files), *binaries]
    if board in FOLDER_BOARDS:
        listing = {"urls": [[name, name] for name in names], "deps": [], "version": version}
        write_whole(folder / "package.json", (json.dumps(listing, indent=2) + "\n").encode())
        write_whole(folder / "manifest.py", manifest(names, version).encode())
        beside += ["manifest.py", "package.json"]
    facts = {
        "board": board,
        "version": version,
        "node": settings.node,
        "table_check": settings.table_check,
        "link": settings.is_linked,
        "condition": settings.condition,
        "files": names,
        "beside": beside,
        "made": digests(files),
    }
    write_whole(folder / LISTING, (json.dumps(facts, indent=2) + "\n").encode())
    return sorted(folder / name for name in [*names, *beside])


def _check_forms(board: str, settings: BoardSettings) -> None:
    """Refuse forms, or the lack of a link, that a board cannot have."""
    forms = settings.forms
    if not settings.is_linked and board not in FLAT_BOARDS:
        raise Refusal(f"{BOARDS[board].spoken} has room for its link; leave --without-link out")
    if not settings.is_linked and settings.algorithm == "fnifc":
        raise Refusal(
            "subscriptions lie in a micro:bit's flash in the order of fnifs or fnif; take one of them"
        )
    if forms is None:
        return
    place = f"--forms {forms}"
    if forms not in FORMS:
        hint = did_you_mean(forms, FORMS)
        message = f"unknown forms; a micro:bit can have {' or '.join(FORMS)}{hint}"
        raise DocumentError.of_file(place, "D706", message)
    if board not in FLAT_BOARDS:
        message = f"{BOARDS[board].spoken} always supports patterns and functions; leave --forms out"
        raise DocumentError.of_file(place, "D706", message)
    if settings.is_linked:
        message = (
            f"a micro:bit has no room for {forms} beside its link, which leaves 2,030 bytes of its heap; "
            "build it with --without-link, or take a pico or an esp32"
        )
        raise DocumentError.of_file(place, "D705", message)


def _check_kernels(board: str, settings: BoardSettings) -> None:
    """Refuse unknown kernels, and those that a board cannot have."""
    chosen = settings.kernels
    if chosen is None:
        return
    place = f"--kernels {chosen}"
    if chosen not in KERNELS:
        hint = did_you_mean(chosen, KERNELS)
        raise DocumentError.of_file(place, "D708", f"there are {' and '.join(KERNELS)} kernels{hint}")
    if chosen == NATIVE and board in FLAT_BOARDS:
        message = f"{BOARDS[board].spoken}'s MicroPython makes no machine code; leave --kernels out"
        raise DocumentError.of_file(place, "D708", message)


def _check_condition(settings: BoardSettings) -> None:
    """Refuse a feature condition that does not exist."""
    if settings.condition not in BOARD_CONDITIONS:
        hint = did_you_mean(settings.condition, BOARD_CONDITIONS)
        message = f"a board filters by {' or '.join(BOARD_CONDITIONS)}{hint}"
        raise DocumentError.of_file(f"--condition {settings.condition}", "D391", message)


def pool_blocks(subscriptions: Sequence[bytes], algorithm: str = DEFAULT) -> list[bytes]:
    """Return subscriptions as a micro:bit's pool holds them (watchdog/pool.py, without QUICK), as node 0's.

    A board that finds its pool filled needs no program to fill it. They are looked for until it is switched
    off.
    """
    groups: dict[bytes, dict[int, bytes]] = {}
    for vector in subscriptions:
        saf = vector[-1]
        head = bytes([vector[-2], (saf & 127).bit_count(), saf])
        own = b""
        if algorithm == "fnif":
            own, head = head, bytes(3)  # such a block says nothing of features
        head += len(vector).to_bytes(2, "big")  # records of one length share a block
        for group in groups.values():
            group.pop(vector[HEADER_ID], None)
        record = (
            bytes([0, 0, vector[HEADER_ID], vector[HEADER_REVISION]])
            + NEVER.to_bytes(4, "big")
            + own
            + vector[5:-2]
        )
        groups.setdefault(head, {})[vector[HEADER_ID]] = record + bytes(len(record) % 2)
    return [
        bytes([len(next(iter(group.values()))) >> 1, len(group)]) + head[:3] + b"".join(group.values())
        for head, group in sorted(groups.items(), reverse=True)
        if group
    ]


def _microbit_files(settings: BoardSettings, blocks: Sequence[bytes], is_recorded: bool) -> dict[str, str]:
    """Return the modules of a micro:bit, laid out so that it can load them."""
    if settings.mission_key is not None:
        raise Refusal("a micro:bit has no hashlib and cannot make tags; leave the key out and trust the wire")
    constants = {**link_assumed(settings.algorithm, is_recorded), **_constants(settings, is_recorded)}
    setup = filter_parts(settings.algorithm).setup(program("microbit_setup"))
    sources = {"microbit_setup": setup, "microbit_loop": program("microbit_loop")}
    sources |= _measuring(settings, is_recorded)
    if not blocks:
        return laid_out(link_parts(settings.algorithm), sources, constants)
    sources["filling"] = _filling(blocks)
    return laid_out(link_parts(settings.algorithm), sources, constants, last="filling")


def _constants(settings: BoardSettings, is_recorded: bool) -> dict[str, int]:
    """Return the constants of a micro:bit's programs."""
    constants = {
        "NODE": settings.node,
        "TABLE_CHECK": settings.table_check,
        "EVENT": settings.event,
        "ATTRIBUTES": settings.mask,
        "PROTOCOL": settings.protocol,
        "PERIOD_MS": settings.period_ms,
        "LIFETIME": settings.lifetime,
        "exact": int(settings.condition == "exact"),
    }
    if not is_recorded:
        if len(settings.attributes) > 1:
            raise Refusal("a micro:bit's own sensor measures one attribute; name one, or give --readings")
        first = settings.attributes[0]
        constants |= {"ATTRIBUTE": first.index, "SCALE": 10**first.decimals}
        constants |= {"LOW": first.lo_scaled, "SPAN": first.hi_scaled - first.lo_scaled}
    return constants


def _measuring(settings: BoardSettings, is_recorded: bool) -> dict[str, str]:
    """Return the program that gives a micro:bit its readings, by its name."""
    if is_recorded:
        return {"microbit_recorded": program("microbit_recorded")}
    source = program("microbit_temperature")
    first = settings.attributes[0]
    return {"microbit_temperature": scaled_temperature(source, first) if first.breakpoints else source}


def _filling(blocks: Sequence[bytes]) -> str:
    """Return the program that fills a pool with its blocks from the flash: one piece and no name of its own,
    because with one more the table of names would outgrow its place.
    """
    sizes = "".join(f"{len(block)}, " for block in blocks)
    return f"""from microbit_setup import pool
pool.count = {sum(block[1] for block in blocks)}
pool.blocks.extend([bytearray(size) for size in ({sizes})])
[file.readinto(block) for file in [open("{BLOCKS}", "rb")] for block in pool.blocks]
"""


def _alone_files(settings: BoardSettings, blocks: Sequence[bytes], is_recorded: bool) -> dict[str, str]:
    """Return the modules of a micro:bit that filters for what lies in its flash and prints what it finds."""
    if not blocks:
        message = "a micro:bit without its link looks for nothing but what it is built with"
        raise DocumentError.of_file("--without-link", "D707", message + "; give it --subscriptions")
    made = filter_parts(settings.algorithm, is_quick=False, forms=settings.forms)
    constants = {**made.assumed, **_constants(settings, is_recorded)}
    sources = {"microbit_setup": made.setup(program("microbit_alone_setup"))}
    sources["microbit_alone"] = program("microbit_alone")
    sources |= _measuring(settings, is_recorded)
    sources["filling"] = _filling(blocks) + "from microbit_setup import scan\nscan.prepare()\n"
    parts = {"core": made.core, "scan": made.scan}
    start = "run()\nprint('--end--')\n"
    return laid_out(parts, sources, constants, start, last="filling", inlined=made.inlined)


def scaled_temperature(source: str, attribute: Attribute) -> str:
    """Return a micro:bit's thermometer for an attribute with a scale: a decision for each of its pieces,
    because a table with a name of its own would take more of the heap.
    """
    low, span = attribute.lo_scaled, attribute.hi_scaled - attribute.lo_scaled
    points = [(0, 0), *((x - low, byte) for x, byte in attribute.breakpoints), (span, 255)]
    lines = []
    for (x, byte), (end, last) in pairwise(points):
        value = f"{byte} + ({2 * (last - byte)} * (x - {x}) + {end - x}) // {2 * (end - x)}"
        lines += [f"    {'el' if x else ''}if x <= {end}:", f"        row[ATTRIBUTE] = {value}"]
    straight = "    row[ATTRIBUTE] = (510 * x + SPAN) // (2 * SPAN)"
    if straight not in source:
        raise ValueError("the program of a thermometer has another line for its byte")
    return source.replace(straight, "\n".join(lines))


def packed_subscriptions(subscriptions: Sequence[bytes], limits: Board = BOARDS["pico"]) -> bytes:
    """Return the bytes of SUBSCRIPTIONS for these vectors; what such a board could not use is refused."""
    packed = b""
    numbers: dict[int, int] = {}
    for number, vector in enumerate(subscriptions):
        try:
            check_subscription(vector, 1)
        except VectorError as error:
            raise Refusal(f"subscription {number} is not a vector with one-byte features: {error}") from error
        for fault in limits.faults(vector, limits.feature_bytes):
            raise Refusal(f"subscription {number}: {fault.message}")
        earlier = numbers.setdefault(vector[HEADER_ID], number)
        if earlier != number:
            raise Refusal(
                f"subscriptions {earlier} and {number} have the same id, {vector[HEADER_ID]}; change one"
            )
        packed += len(vector).to_bytes(2, "big") + vector
    return packed


def _check_room(board: str, subscriptions: Sequence[bytes], algorithm: str) -> None:
    """Refuse more subscriptions than the pool of a board with folders holds."""
    pool = BOARDS[board].pool(algorithm)
    for number, vector in enumerate(subscriptions):
        if not enter(pool, 0, vector[HEADER_ID], vector[HEADER_REVISION], NEVER, vector, 5, len(vector)):
            raise Refusal(
                f"a {board} has room for {number} of these {len(subscriptions)} subscriptions; give it fewer"
            )


def unmeasured(settings: BoardSettings, subscriptions: Sequence[bytes]) -> list[int]:
    """Return which subscriptions ask for what this board does not measure, and so will never find."""
    return [
        number
        for number, vector in enumerate(subscriptions)
        if vector[-2] != 1 << settings.event or vector[-1] & 127 & ~settings.mask
    ]
