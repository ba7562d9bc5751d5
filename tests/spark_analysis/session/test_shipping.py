"""What is shipped to workers is all that they need: nothing of ours is found elsewhere."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from spark_analysis.session.shipping import pack_packages
from tests.paths import ROOT

WORK = """
import sys
from pathlib import Path
import spark_analysis.metrics.truth, spark_analysis.sweep.key_figures
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from plugins.registry import languages
languages()
scenario = load_scenario("rescue", ["duration_s=60"])
run_scenario(scenario, 1, Path(sys.argv[1]))
files = {str(Path(module.__file__)) for module in sys.modules.values() if getattr(module, "__file__", None)}
print(*sorted(files), sep="\\n")
"""


def test_a_worker_runs_a_scenario_with_what_is_shipped_alone(tmp_path: Path) -> None:
    shipped = tmp_path / "shipped"
    with zipfile.ZipFile(pack_packages()) as archive:
        archive.extractall(shipped)
    done = subprocess.run(
        [sys.executable, "-c", WORK, str(tmp_path / "run")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(shipped)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    files = done.stdout.split("\n")
    environment = str(ROOT / ".venv")
    elsewhere = [file for file in files if file.startswith(f"{ROOT}/") and not file.startswith(environment)]
    assert elsewhere == []
    assert sum(file.startswith(str(shipped)) for file in files) > 100
