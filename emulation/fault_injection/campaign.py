"""Runs many seeds and reports for each whether the invariants held. The plan of a failing seed can be stored.

    verdicts = run_seeds(range(1, 301), parse_faults("all"), report=print)

is what `dens torture --seeds 1..300 --faults all` does; it exits with `EXIT_BROKEN` if a verdict is not ok.
"""

import json
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Final

from dens.config.atomic_write import write_whole
from dens.config.reading import read_document
from emulation.fault_injection.broker_world import BrokerWorld
from emulation.fault_injection.driver_world import DriverWorld, draw_driver
from emulation.fault_injection.invariant import BrokenInvariant
from emulation.fault_injection.plan import FAULTS, Plan, composing, draw
from emulation.fault_injection.plan_file import KeptPlan, encode_plan, read_plan
from emulation.fault_injection.world import World

EXIT_BROKEN: Final = 4


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one world. `invariant` is the promise of docs/reference/protocols.md that was broken, 0
    if an engine raised an exception.
    """

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
    plan: Plan | None = None
    file: str | None = None
    """The file of the plan, if it was not drawn from a seed."""

    @property
    def command(self) -> str:
        """Return the command that reproduces this world."""
        if self.world == "driver":
            return f"dens torture --world driver --seeds {self.seed}"
        if self.file is not None:
            return f"dens torture --plan {shlex.quote(self.file)}"
        if self.plan is not None and (self.plan.languages or self.plan.routing != "carry"):
            kind = "languages" if self.plan.languages else "brokers"
            return f"dens torture --world {kind} --seeds {self.seed} --faults {self.faults}"
        covering = " --covering" if self.plan is not None and self.plan.covering else ""
        composes = " --composing" if self.plan is not None and self.plan.composes else ""
        return f"dens torture --seeds {self.seed} --faults {self.faults}{covering}{composes}"

    def as_dict(self) -> dict[str, object]:
        """Return the fields for programs, without the plan, which is a file of its own."""
        document = {field.name: getattr(self, field.name) for field in fields(self)}
        del document["plan"], document["file"]
        return {**document, "command": self.command}

    def as_line(self) -> str:
        """Return a line of JSON, for `--json`."""
        return json.dumps(self.as_dict())


def parse_faults(text: str) -> tuple[str, ...]:
    """Return the faults that `all`, `none` or a list such as `crash,loss` selects, in the order of `FAULTS`,
    or raise ValueError.
    """
    if text == "all":
        return tuple(FAULTS)
    named = set() if text == "none" else set(text.split(","))
    unknown = sorted(named - FAULTS.keys())
    if unknown and unknown[0] in ("all", "none"):
        raise ValueError(
            f'"{unknown[0]}" cannot be combined with other faults; give it alone, or list faults'
        )
    if unknown:
        raise ValueError(f'unknown fault "{unknown[0]}"; use all, none, or a list of {", ".join(FAULTS)}')
    return tuple(name for name in FAULTS if name in named)


def _named(faults: Sequence[str]) -> str:
    return "all" if len(faults) == len(FAULTS) else ",".join(faults) or "none"


def run_seeds(
    seeds: Iterable[int],
    faults: Sequence[str] = tuple(FAULTS),
    report: Callable[[Verdict], object] = lambda verdict: None,
    covering: bool = False,
    composes: bool = False,
) -> list[Verdict]:
    """Run these seeds with these faults, report each verdict at once, and return all of them.

    With `covering`, mediators suppress covered installs in every seed instead of every seventh. With
    `composes`, many subscriptions of every seed are to sequences.
    """

    def draws(seed: int, allowed: Sequence[str]) -> Plan:
        plan = draw(seed, allowed)
        if covering:
            plan = replace(plan, covering=True)
        return composing(plan) if composes else plan

    return run_plans(seeds, draws, faults, report)


def run_driver_seeds(
    seeds: Iterable[int], report: Callable[[Verdict], object] = lambda verdict: None
) -> list[Verdict]:
    """Run worlds of the real UDP driver: spoofed sources, restarts at new ports, clocks from 1970 to 2100,
    replays. Each seed draws its own faults.
    """
    verdicts = []
    for seed in seeds:
        world = DriverWorld(seed, draw_driver(seed))
        invariant, message = None, ""
        try:
            world.live()
        except BrokenInvariant as broken:
            invariant, message = broken.invariant, str(broken)
        except Exception as error:
            invariant, message = 0, f"the driver raised {type(error).__name__}: {error}"
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


def world_of(seed: int, plan: Plan) -> World:
    """Return the world that a plan describes."""
    if plan.languages:
        from emulation.fault_injection.language_world import LanguageWorld  # Compilers are slow to import.

        return LanguageWorld(seed, plan)
    return World(seed, plan) if plan.routing == "carry" else BrokerWorld(seed, plan)


def run_plans(
    seeds: Iterable[int],
    draws: Callable[[int, Sequence[str]], Plan],
    faults: Sequence[str] = tuple(FAULTS),
    report: Callable[[Verdict], object] = lambda verdict: None,
) -> list[Verdict]:
    """Run the plans that `draws` (`draw`, `draw_brokers`, `draw_languages`) makes of these seeds, report each
    verdict at once, and return all of them.
    """
    verdicts = []
    for seed in seeds:
        verdict = judge(KeptPlan(seed, draws(seed, faults), _named(faults)))
        report(verdict)
        verdicts.append(verdict)
    return verdicts


def judge(kept: KeptPlan, file: str | None = None) -> Verdict:
    """Run one world with faults, heal it, and return whether every invariant held."""
    world = None
    try:
        world = world_of(kept.seed, kept.plan)
        world.live_through()
        world.heal()
        world.checker.conclude()
    except BrokenInvariant as broken:
        return _verdict(kept, file, world, broken.invariant, str(broken))
    except Exception as error:
        return _verdict(kept, file, world, 0, f"an engine raised {type(error).__name__}: {error}")
    return _verdict(kept, file, world, None, "")


def _verdict(
    kept: KeptPlan, file: str | None, world: World | None, invariant: int | None, message: str
) -> Verdict:
    return Verdict(
        kept.seed,
        kept.faults,
        invariant is None,
        0 if world is None else world.steps,
        0 if world is None else world.crashes,
        0 if world is None else len(world.delivered),
        0 if world is None else world.now_ms,
        invariant,
        message,
        plan=kept.plan,
        file=file,
    )


def keep(verdict: Verdict, folder: Path) -> Path:
    """Write the plan of a failing world to a file in this folder and return its path."""
    if verdict.plan is None:
        raise ValueError(f"worlds of the {verdict.world} have no plan to store")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{verdict.seed:06d}-{verdict.faults.replace(',', '-')}.json"
    kept = KeptPlan(verdict.seed, verdict.plan, verdict.faults, verdict.message)
    write_whole(path, encode_plan(kept).encode())
    return path


def kept(folder: Path) -> list[KeptPlan]:
    """Return the stored plans of a folder, by file name."""
    return [read_plan(read_document(path), str(path)) for path in sorted(folder.glob("*.json"))]
