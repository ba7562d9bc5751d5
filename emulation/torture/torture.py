"""Run many seeds, and say of each whether the promises held; a seed that fails can be kept and replayed.

    verdicts = torture(range(1, 301), parse_faults("all"), report=print)

is what `dens torture --seeds 1..300 --faults all` does; it ends with `EXIT_BROKEN` when a verdict is not ok.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from emulation.torture.driver_world import DriverWorld, draw_driver
from emulation.torture.plan import FAULTS, Plan, draw
from emulation.torture.promise import BrokenPromise
from emulation.torture.world import World

EXIT_BROKEN: Final = 4


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one seed. `invariant` is the promise of SPEC §8 that broke, 0 where an engine failed."""

    seed: int
    faults: str
    ok: bool
    steps: int
    crashes: int
    delivered: int
    at_ms: int
    invariant: int | None = None
    message: str = ""
    world: str = "engines"

    @property
    def command(self) -> str:
        """Return the command that runs this seed again."""
        if self.world == "driver":
            return f"dens torture --world driver --seeds {self.seed}"
        return f"dens torture --seeds {self.seed} --faults {self.faults}"

    def as_line(self) -> str:
        """Return one JSON object, for `--json`."""
        return json.dumps({**asdict(self), "command": self.command})


def parse_faults(text: str) -> tuple[str, ...]:
    """Return the faults of `all`, `none` or `crash,loss`, in the order of `FAULTS`; raise ValueError
    otherwise.
    """
    if text == "all":
        return tuple(FAULTS)
    named = set() if text == "none" else set(text.split(","))
    unknown = sorted(named - FAULTS.keys())
    if unknown and unknown[0] in ("all", "none"):
        raise ValueError(f"{unknown[0]} stands alone; give it without other faults, or name those you want")
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no fault; there are {', '.join(FAULTS)}; or all, or none, alone")
    return tuple(name for name in FAULTS if name in named)


def _named(faults: Sequence[str]) -> str:
    return "all" if len(faults) == len(FAULTS) else ",".join(faults) or "none"


def torture(
    seeds: Iterable[int],
    faults: Sequence[str] = tuple(FAULTS),
    report: Callable[[Verdict], object] = lambda verdict: None,
) -> list[Verdict]:
    """Run these seeds with these faults, report each verdict as it is found, and return all of them."""
    verdicts = []
    for seed in seeds:
        verdict = judge(seed, draw(seed, faults), _named(faults))
        report(verdict)
        verdicts.append(verdict)
    return verdicts


def torture_driver(
    seeds: Iterable[int], report: Callable[[Verdict], object] = lambda verdict: None
) -> list[Verdict]:
    """Run worlds of the real UDP driver: spoofed sources, restarts at new ports, clocks from 1970 to 2100,
    replays. Each draws its own hardships.
    """
    verdicts = []
    for seed in seeds:
        world = DriverWorld(seed, draw_driver(seed))
        invariant, message = None, ""
        try:
            world.live()
        except BrokenPromise as broken:
            invariant, message = broken.invariant, str(broken)
        except Exception as error:  # a driver that raises has broken its promise too
            invariant, message = 0, f"the driver failed: {type(error).__name__}: {error}"
        delivered = sum(map(len, world.delivered.values()))
        verdict = Verdict(
            seed,
            "its own",
            invariant is None,
            len(world.frames),
            world.restarts,
            delivered,
            0,
            invariant,
            message,
            "driver",
        )
        report(verdict)
        verdicts.append(verdict)
    return verdicts


def judge(seed: int, plan: Plan, faults: str = "all") -> Verdict:
    """Live through one world, heal it, and say whether every promise held."""
    world = None
    try:
        world = World(seed, plan)
        world.live_through()
        world.heal()
        world.auditor.conclude()
    except BrokenPromise as broken:
        return _verdict(seed, faults, world, broken.invariant, str(broken))
    except Exception as error:  # an engine that raises has broken its promise too
        return _verdict(seed, faults, world, 0, f"an engine failed: {type(error).__name__}: {error}")
    return _verdict(seed, faults, world, None, "")


def _verdict(seed: int, faults: str, world: World | None, invariant: int | None, message: str) -> Verdict:
    if world is None:
        return Verdict(seed, faults, False, 0, 0, 0, 0, invariant, message)
    return Verdict(
        seed,
        faults,
        invariant is None,
        world.steps,
        world.crashes,
        len(world.delivered),
        world.now_ms,
        invariant,
        message,
    )


def keep(verdict: Verdict, folder: Path) -> Path:
    """Keep a failing seed as a file, which later runs replay first; return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{verdict.seed:06d}-{verdict.faults.replace(',', '-')}.json"
    path.write_text(verdict.as_line() + "\n", "utf-8")
    return path


def kept(folder: Path) -> list[tuple[int, tuple[str, ...]]]:
    """Return the seeds that failed once, with their faults, by file name."""
    found = []
    for path in sorted(folder.glob("*.json")):
        said = json.loads(path.read_text("utf-8"))
        found.append((int(said["seed"]), parse_faults(said["faults"])))
    return found
