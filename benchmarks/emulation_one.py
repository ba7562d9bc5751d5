"""The emulator on The ONE's settings, beside The ONE and beside pons-dtn.

The ONE's figures are quoted (its own runs on two shared cores: 89 CPU s for setting a over 12 h, 20.5 for c
over 1 h at its coarse step); the machine at hand differs, so such a ratio says the order of magnitude only.
pons-dtn 0.2.1, a simulator in The ONE's style on SimPy, runs here and now: an hour of setting a, with its
loggers off. It wants older libraries than ours, so it lives in a folder of its own with its own pins
(requirements/pons.txt), and only what it imports is installed. Everything runs in processes of its own; their
CPU seconds are counted after their imports.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.measurement import Measurement, at_least, at_most

ROOT: Final = Path(__file__).parent.parent
PONS: Final = ROOT / ".build" / "pons"
THE_ONE_A_12H_CPU_S: Final = 89.0
THE_ONE_C_1H_CPU_S: Final = 20.5
GOAL_CPU_S: Final = 4.0

OURS: Final = """
import json, resource, sys, tempfile, time
from pathlib import Path
from emulation.run import run_scenario
from emulation.scenario import load_scenario
scenario = load_scenario(sys.argv[1], sys.argv[2:])
with tempfile.TemporaryDirectory() as folder:
    begin, clock = time.process_time(), time.monotonic()
    summary = run_scenario(scenario, scenario.seed, Path(folder) / "run")
    spent, waited = time.process_time() - begin, time.monotonic() - clock
most_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"cpu_s": spent, "wall_s": waited, "most_mb": most_mb, "delivered": summary.delivered}))
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
    """Measure whole runs through the real engines, trace on."""
    hour = _run(OURS, "one_a", "duration_s=3600")
    yield at_least("one_a_hour_times_faster_than_pons", 1 / hour["cpu_s"], 1 / _pons()["cpu_s"], 20.0)
    half_day = _run(OURS, "one_a")
    goal = GOAL_CPU_S / THE_ONE_A_12H_CPU_S
    yield at_most("one_a_12h_cpu_s_against_the_one_quoted", half_day["cpu_s"], THE_ONE_A_12H_CPU_S, goal)
    many = _run(OURS, "one_c")
    goal = GOAL_CPU_S / THE_ONE_C_1H_CPU_S
    yield at_most("one_c_1h_cpu_s_against_the_one_quoted", many["cpu_s"], THE_ONE_C_1H_CPU_S, goal)
    yield at_most("one_c_1000_nodes_most_mb_against_1024", many["most_mb"], 1024.0, 1.0)
    rescue = _run(OURS, "rescue")
    yield at_most("rescue_12h_wall_s_against_30", rescue["wall_s"], 30.0, 1.0)


def _pons() -> Any:
    if not (PONS / "pons").is_dir():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
        wanted = ["--target", str(PONS), "-r", str(ROOT / "requirements" / "pons.txt")]
        subprocess.run([*pip, *wanted], check=True)
    return _run(THEIRS, folder=PONS)


def _run(program: str, *arguments: str, folder: Path = ROOT) -> Any:
    ended = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={"PYTHONPATH": str(folder), "PATH": ""},
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(ended.stdout.splitlines()[-1])
