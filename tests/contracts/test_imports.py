"""What modules import when they are loaded: nothing that a system may lack, and few of ours per command."""

import ast
import subprocess
import sys

import pytest

from dens.app.tools.name_clashes import PACKAGES
from tests.paths import ROOT

POSIX_ONLY = {"fcntl", "termios", "tty"}
MODULES_MAX = 120
"""Modules of ours that checking or compiling one file loads. A command waits for each of them."""


def module_level_imports(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def test_only_nodes_import_posix_modules_when_loaded() -> None:
    sources = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    assert len(sources) > 500
    bad = {
        str(path.relative_to(ROOT))
        for path in sources
        if POSIX_ONLY & module_level_imports(ast.parse(path.read_text("utf-8")))
    }
    assert all(name.startswith("dens/node/") for name in bad), bad


@pytest.mark.parametrize("command", ["check", "compile"])
def test_command_on_one_file_loads_few_modules(command: str) -> None:
    program = (
        "import sys\n"
        "from dens.cli.main import _run\n"
        f"code = _run([{command!r}, 'docs/examples/patient.xml'], False)\n"
        f"ours = [name for name in sys.modules if name.partition('.')[0] in {PACKAGES!r}]\n"
        "print(code, len(ours))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    code, count = map(int, ended.stdout.splitlines()[-1].split())
    assert code == 0
    assert count <= MODULES_MAX
