"""The emulator on The ONE's settings, beside itself as it was, beside pons-dtn, and beside a native limit.

Three comparisons, which are not to be mixed:

- *Ours with ours*: the text as it is, compiled where there is a C compiler, and the last commit before it was
  made lean, in turns.
- *Simulators that move abstract messages* (The ONE, pons-dtn) with what does the same work here: `dens
  replay`, with transfers of 40 ms (10 kB at 250 kB/s), on contacts that are drawn and solved within the
  measured time.
  The ONE's figures are quoted (its own runs on two shared cores: 89 CPU s for setting a over 12 h, 20.5 for c
  over 1 h at its coarse step), so such a ratio says the order of magnitude only. pons-dtn 0.2.1 runs here and
  now, with its loggers off: an hour of setting a. It wants older libraries than ours, so it lives in a folder
  of its own with its own pins (requirements/pons.txt).
- *The emulator itself* runs the whole protocol: hellos, summaries, windows, acknowledgements, receipts,
  stores and a trace. Its figures are simulated seconds and frames a CPU second. The same design compiled
  natively (a prototype that wrote the same folders) needs 2.06 and 2.38 CPU s: the limit of this design.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.engine_forms import COMPILED, EARLIER, PURE, ROOT, Form, forms
from benchmarks.measurement import Measurement, alone, at_least, at_most, beside
from benchmarks.sizes import sized

PONS: Final = ROOT / ".build" / "pons"
THE_ONE_CPU_S: Final = {"one_a": 89.0, "one_c": 20.5}
NATIVE_CPU_S: Final = {"one_a": 2.06, "one_c": 2.38}
AGAINST_EARLIER: Final = {PURE: 1 / 2, COMPILED: 1 / 3}
AGAINST_PONS: Final = {PURE: 15.0, COMPILED: 20.0}
RESCUE_AGAINST_EARLIER: Final = 0.6
ROUNDS: Final = sized(2, 1)
SHORTER: Final[tuple[str, ...]] = sized((), ("duration_s=900",))

OURS: Final = """
import json, re, sys, time
from pathlib import Path
import scipy.spatial  # Larger scenarios need it; the earlier text imports it in any case.
from emulation.run import run_scenario
from emulation.scenario import load_scenario
scenario = load_scenario(sys.argv[2], sys.argv[3:])
begin, clock = time.process_time(), time.monotonic()
summary = run_scenario(scenario, scenario.seed, Path(sys.argv[1]))
spent, waited = time.process_time() - begin, time.monotonic() - clock
# VmHWM: ru_maxrss would include the memory of the process that forked this one.
most_mb = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
print(json.dumps({"cpu_s": spent, "wall_s": waited, "most_mb": most_mb, "frames": summary.frames_sent,
    "simulated_s": summary.simulated_s, "delivered": summary.delivered}))
"""
REPLAY: Final = """
import json, sys, time
from pathlib import Path
from emulation.motion import contacts_among, walks_of
from emulation.replay.flood import replay
from emulation.replay.messages import Message
from emulation.scenario import load_scenario
from emulation.random.rng import RandomStreams
from dens.trace.tables import rows_of
scenario = load_scenario(sys.argv[2], sys.argv[3:])
streams = RandomStreams(scenario.seed)
[traffic] = scenario.settings.traffic
device_of = {slot.number: slot.device for slot in scenario.slots()}
messages = [
    Message(f"{row['origin']}-{row['number']}", float(row["at_ms"]), device_of[row["origin"]],
        device_of[int.from_bytes(row["vector"][: -traffic.size_bytes], "big")])
    for row in rows_of(Path(sys.argv[1]), "notifications", ["at_ms", "origin", "number", "vector"])
]
contacts_among(scenario, walks_of(scenario, streams), streams)  # what is compiled on first use
begin = time.process_time()
contacts = contacts_among(scenario, walks_of(scenario, streams), streams)
result = replay(contacts, messages, transfer_s=0.04)
spent = time.process_time() - begin
print(json.dumps({"cpu_s": spent, "delivered": result.delivered, "relays": result.relays}))
"""
THEIRS: Final = """
import json, logging, random, time
import pons
logging.disable()
random.seed(1)
seconds, count, side = 3600, 50, 1000
begin = time.process_time()
walk = pons.generate_randomwaypoint_movement(seconds, count, side, side, 0.5, 1.5, 0, 120)
network = pons.NetworkSettings("radio", range=50, bandwidth=250_000)
nodes = pons.generate_nodes(count, net=[network], router=pons.EpidemicRouter())
traffic = {"interval": 30, "src": (0, count), "dst": (0, count), "size": 10_000, "id": "M", "ttl": 18_000}
quiet = {"movement_logger": False, "peers_logger": False}
world = pons.NetSim(seconds, nodes, (side, side), movements=walk, msggens=[traffic], config=quiet)
world.setup()
world.run()
spent = time.process_time() - begin
print(json.dumps({"cpu_s": spent, "delivered": world.routing_stats["delivered"]}))
"""


def measure() -> Iterator[Measurement]:
    """Measure whole runs through the real engines, trace on, and replays of the same messages."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hours = side_by_side(folder, "one_a", "duration_s=3600")
        pons_s = min(_pons()["cpu_s"] for _ in range(ROUNDS))
        for form, goal in AGAINST_PONS.items():
            if form in hours:
                yield at_least(
                    f"one_a_hour_{form}_times_faster_than_pons", 1 / hours[form]["cpu_s"], 1 / pons_s, goal
                )
        hour_s = _replay(folder, "one_a", "duration_s=3600")["cpu_s"]
        yield beside("replay_of_one_a_hour_times_faster_than_pons", 1 / hour_s, 1 / pons_s)
        for scenario in ("one_a", "one_c"):
            yield from _with_the_one(folder, scenario)
        rescue = side_by_side(folder, "rescue")
        yield from _with_earlier("rescue", rescue, dict.fromkeys(AGAINST_EARLIER, RESCUE_AGAINST_EARLIER))
        yield at_most("rescue_12h_wall_s_against_30", rescue[PURE]["wall_s"], 30.0, 1.0)


def side_by_side(folder: Path, scenario: str, *changes: str, rounds: int = ROUNDS) -> dict[str, Any]:
    """Run a scenario in every form, in turns; return the cheapest run of each. The folder of the last run of
    the text as it is stays, as `pure`."""
    best: dict[str, Any] = {}
    for _ in range(rounds):
        for form in forms():
            out = folder / form.name
            shutil.rmtree(out, ignore_errors=True)
            found = form.run(OURS, str(out), scenario, *changes, *SHORTER)
            if form.name not in best or found["cpu_s"] < best[form.name]["cpu_s"]:
                best[form.name] = found
    return best


def _with_the_one(folder: Path, scenario: str) -> Iterator[Measurement]:
    found = side_by_side(folder, scenario)
    yield from _with_earlier(scenario, found, AGAINST_EARLIER)
    for form in (PURE, COMPILED):
        if form in found:
            one = found[form]
            yield beside(
                f"{scenario}_{form}_cpu_s_beside_the_native_limit", one["cpu_s"], NATIVE_CPU_S[scenario]
            )
            yield alone(f"{scenario}_{form}_simulated_s_per_cpu_s", one["simulated_s"] / one["cpu_s"])
            yield alone(f"{scenario}_{form}_frames_per_cpu_s", one["frames"] / one["cpu_s"])
            yield beside(
                f"{scenario}_{form}_times_faster_than_the_one_quoted",
                1 / one["cpu_s"],
                1 / THE_ONE_CPU_S[scenario],
            )
    replayed = _replay(folder, scenario)
    yield beside(
        f"replay_of_{scenario}_times_faster_than_the_one_quoted",
        1 / replayed["cpu_s"],
        1 / THE_ONE_CPU_S[scenario],
    )
    yield beside(f"{scenario}_delivered_beside_its_replay", found[PURE]["delivered"], replayed["delivered"])
    if scenario == "one_c":
        yield at_most("one_c_1000_nodes_most_mb_against_1024", found[PURE]["most_mb"], 1024.0, 1.0)


def _with_earlier(scenario: str, found: dict[str, Any], goals: dict[str, float]) -> Iterator[Measurement]:
    for form, goal in goals.items():
        if form in found:
            name, spent = f"{scenario}_{form}_cpu_s", found[form]["cpu_s"]
            if EARLIER in found:
                yield at_most(f"{name}_against_earlier", spent, found[EARLIER]["cpu_s"], goal)
            else:
                yield alone(name, spent)
    if EARLIER in found:
        yield beside(
            f"{scenario}_delivered_beside_earlier", found[PURE]["delivered"], found[EARLIER]["delivered"]
        )
        yield beside(f"{scenario}_frames_beside_earlier", found[PURE]["frames"], found[EARLIER]["frames"])


def _replay(folder: Path, scenario: str, *changes: str) -> Any:
    """Carry the messages of the run that lies there over its contacts."""
    return min(
        (
            Form(PURE, ROOT).run(REPLAY, str(folder / PURE), scenario, *changes, *SHORTER)
            for _ in range(ROUNDS)
        ),
        key=lambda found: found["cpu_s"],
    )


def _pons() -> Any:
    if not (PONS / "pons").is_dir():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
        wanted = ["--target", str(PONS), "-r", str(ROOT / "requirements" / "pons.txt")]
        subprocess.run([*pip, *wanted], check=True)
    ended = subprocess.run(
        [sys.executable, "-c", THEIRS.replace("3600", str(sized(3600, 60)))],
        env={"PYTHONPATH": str(PONS), "PATH": ""},
        cwd=PONS,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(ended.stdout.splitlines()[-1])
