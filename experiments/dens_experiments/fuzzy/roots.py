"""Figure 7e: what aggregators cost, the library's root and approximated ones among them, on three runtimes.

The paper found the root of its phone's library dear and an approximation cheap. A library's root is dear
where the library is interpreted itself; here it is compiled C on every runtime, and everything else is
bytecode. So there is a control: a root that is written out in floating point, as a library in bytecode has
it. The values are of one aggregation of two degrees, less an empty call.
"""

import random
from collections.abc import Mapping
from typing import Final

from dens_experiments.family import Request
from dens_experiments.fuzzy import paper
from dens_experiments.fuzzy.runtimes import (
    MICROBIT,
    command_of,
    cpython,
    has_microbit,
    ran,
    webassembly,
    with_watchdog,
)
from dens_experiments.fuzzy.settings import settings_of
from dens_experiments.fuzzy.workload import FIRST_ORDER, ZERO_ORDER
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Tell
from dens_experiments.tables import number

PAIRS: Final = 64
"""Pairs of degrees that each is measured with."""

_NEWTON = """
def newton(a, b):
    x = float(a * b)
    y = x + 1.0
    while x < y:
        y = x
        x = 0.5 * (y + a * b / y)
    return y
"""


class _Aggregation:
    """An expression over `row`, and what it needs of the watchdog or the library."""

    __slots__ = ("expression", "imports", "modules", "text")

    def __init__(
        self, expression: str, imports: str = "", modules: tuple[str, ...] = (), text: str = ""
    ) -> None:
        self.expression = expression
        self.imports = imports
        self.modules = modules
        self.text = text


def _by_rules(block: bytes, order: int) -> _Aggregation:
    table = block[2:]
    return _Aggregation(
        f"pair_value({table!r}, 0, {1 + table[0]}, {order}, row[0], row[1])",
        "from watchdog.breakdown import pair_value",
        ("breakdown",),
    )


_AGGREGATE = "from watchdog.aggregate import aggregate"
WHY: Final = (
    "Compiled C beats bytecode: on the board one step of the interpreter takes some hundred instructions, as "
    "much as a multiplication in C's soft floating point, and an approximation takes hundreds of steps. How "
    "the library of the paper's phone computes its root, the paper does not say; one that is bytecode itself "
    "costs at least what the line *root in bytecode* does.",
    "Fixed point stays right for another reason: the same bits on every runtime, and no allocation, which a "
    "float needs on a board.",
)

AGGREGATIONS: Final[Mapping[str, _Aggregation]] = {
    "product": _Aggregation("aggregate(2, row, 2)", _AGGREGATE, ("aggregate",)),
    "arithmetic mean": _Aggregation("aggregate(3, row, 2)", _AGGREGATE, ("aggregate",)),
    "library root, math.sqrt": _Aggregation("sqrt(row[0] * row[1])", "from math import sqrt"),
    "library root, ** 0.5": _Aggregation("(row[0] * row[1]) ** 0.5"),
    "root in bytecode, floats": _Aggregation("newton(row[0], row[1])", text=_NEWTON),
    "fixed point, exact": _Aggregation("aggregate(4, row, 2)", _AGGREGATE, ("aggregate",)),
    "approximated, order 0": _by_rules(ZERO_ORDER.block, 0),
    "approximated, order 1": _by_rules(FIRST_ORDER.block, 1),
    "approximated, generator": _Aggregation(
        "generated_value(named(0), 0, row, 2)",
        "from watchdog.breakdown import generated_value, named",
        ("breakdown",),
    ),
}
"""The paper's four (product, approximated root, library's root, arithmetic mean), and what explains them."""

_HOST = """
try:
    from time import process_time_ns as clock_ns
except ImportError:
    try:
        from js import process

        def clock_ns():
            return 1000 * int(process.cpuUsage().user)
    except ImportError:
        from time import ticks_us

        def clock_ns():
            return 1000 * ticks_us()
PAIRS = {pairs}
row = bytearray(4)


def spent_ns(work, rounds):
    begin = clock_ns()
    for _ in range(rounds):
        for a, b in PAIRS:
            row[0] = a
            row[1] = b
            work(row)
    return clock_ns() - begin


def least(work):
    rounds = 4
    while spent_ns(work, rounds) < {enough_ns}:
        rounds *= 2
    best = spent_ns(work, rounds)
    for _ in range({repetitions} - 1):
        best = min(best, spent_ns(work, rounds))
    return best // rounds


def nothing(row):
    return 0


print("nothing", least(nothing))
"""

_BOARD = """
from utime import ticks_us
from program import row
{imports}
{text}


def work(row):
    return {expression}


def run():
    pairs = {pairs}
    begin = ticks_us()
    for i in range(0, len(pairs), 2):
        row[0] = pairs[i]
        row[1] = pairs[i + 1]
        work(row)
    print("us", ticks_us() - begin)
"""


def fig7e(request: Request, tell: Tell) -> Panel:
    """Compare aggregators on every runtime that is here, or on those that were named."""
    settings = settings_of(request)
    hosts = {"CPython": cpython()}
    on_board = MICROBIT in request.on if request.on else has_microbit()
    for place in request.on:
        if place != MICROBIT:
            hosts["MicroPython"] = command_of(place)
    if not request.on and (found := webassembly()) is not None:
        hosts["WebAssembly"] = found
    taken: dict[str, list[dict[str, float]]] = {}
    for runtime, command in hosts.items():
        tell(runtime)
        taken[f"{runtime}, µs"] = [
            _on_host(command, seed, settings.repetitions, request.small) for seed in settings.seeds
        ]
    if on_board:
        tell("micro:bit")
        taken["micro:bit, instructions"] = [_on_board(seed) for seed in settings.seeds]
    lines = {
        name: Line(
            tuple(tuple(one[name] / one["product"] for one in samples) for samples in taken.values()),
            {"absolute": tuple(sum(one[name] for one in s) / len(s) for s in taken.values())},
        )
        for name in AGGREGATIONS
    }
    missing = [] if on_board else ["the emulated micro:bit (qemu-system-arm and its firmware)"]
    missing += [] if len(hosts) > 1 else ["MicroPython for WebAssembly (node, and --on COMMAND)"]
    return Panel(
        "e) aggregators of two degrees, by runtime",
        "runtime",
        "times the product on that runtime",
        tuple(taken),
        lines,
        "the library's root is very costly, the approximated one much cheaper, within 1 %",
        (paper.ROOT_ERROR,),
        _shapes(lines, tuple(taken)),
        (
            *WHY,
            *(f"Not measured here: {one}." for one in missing),
        ),
        {"seeds": str(len(settings.seeds)), "value": "mean over seeds ± half of the 95 % t interval"},
        form="bars",
        values_unit="absolute, in the unit of its runtime",
    )


def _pairs(seed: int) -> list[tuple[int, int]]:
    rng = random.Random(seed)
    return [(rng.randint(26, 255), rng.randint(26, 255)) for _ in range(PAIRS)]


def _on_host(command: list[str], seed: int, repetitions: int, small: bool) -> dict[str, float]:
    """Return the microseconds of each aggregation in an interpreter on this machine."""
    program = _HOST.format(
        pairs=_pairs(seed), repetitions=repetitions, enough_ns=20_000_000 if small else 50_000_000
    )
    for place, one in enumerate(AGGREGATIONS.values()):
        program += f"\n{one.imports}\n{one.text}\n\ndef work{place}(row):\n    return {one.expression}\n"
        program += f'\nprint("work{place}", least(work{place}))\n'
    said, _ = ran(command, with_watchdog(program + '\nprint("done")\n'))
    spent = {line.split()[0]: int(line.split()[1]) for line in said.splitlines() if " " in line}
    return {
        name: max(spent[f"work{place}"] - spent["nothing"], 1) / PAIRS / 1e3
        for place, name in enumerate(AGGREGATIONS)
    }


def _on_board(seed: int) -> dict[str, float]:
    """Return the instructions of each aggregation on the emulated micro:bit."""
    empty = _board_instructions(_Aggregation("0"), seed)
    return {name: _board_instructions(one, seed) - empty for name, one in AGGREGATIONS.items()}


def _board_instructions(one: _Aggregation, seed: int) -> float:
    from dens.boards.costs.board_programs import FREE, START
    from dens.boards.emulator.microbit import INSTRUCTION_NS, run_on_microbit
    from dens.boards.optimiser.chunking import laid_out

    pairs = bytes(degree for pair in _pairs(seed) for degree in pair)
    program = _BOARD.format(imports=one.imports, text=one.text, expression=one.expression, pairs=repr(pairs))
    parts = {"core": one.modules} if one.modules else {}
    programs = {"program": "row = bytearray(4)\n", "user": program}
    said = run_on_microbit(laid_out(parts, programs, {}, START, FREE)).splitlines()
    [spent] = [int(line.split()[1]) for line in said if line.startswith("us")]
    return spent * 1000 / INSTRUCTION_NS / PAIRS


def _shapes(lines: Mapping[str, Line], runtimes: tuple[str, ...]) -> tuple[Shape, ...]:
    shapes = []
    for place, runtime in enumerate(runtimes):
        library = lines["library root, math.sqrt"].means[place]
        dearest = max(lines, key=lambda name: lines[name].means[place])
        written = lines["root in bytecode, floats"].means[place]
        approximated = min(
            line.means[place] for name, line in lines.items() if name.startswith("approximated")
        )
        name = runtime.split(",")[0]
        shapes.append(
            Shape(
                f"the library's root is dearer than an approximated one ({name})",
                f"{number(library)} and {number(approximated)} times the product; dearest: {dearest}",
                verdict(library > approximated),
                "the library is C, the approximation bytecode",
            )
        )
        shapes.append(
            Shape(
                f"a root written in bytecode is dearer than an approximated one ({name})",
                f"{number(written)} and {number(approximated)} times the product",
                verdict(written > approximated),
                ""
                if written > approximated
                else "four rules for a pair take more bytecode than Newton's few steps",
            )
        )
    return tuple(shapes)
