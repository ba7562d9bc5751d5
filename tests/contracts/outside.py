"""Packages outside of DENS: built, installed into a folder of their own, and used by `dens` as a process."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.paths import ROOT


def dens(site: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dens.cli", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)]), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def installed(package: Path, folder: Path, changes: dict[str, str] | None = None) -> Path:
    """Build a package and install it into a folder of its own, without a network."""
    source, site = folder / "source", folder / "site"
    shutil.copytree(package, source, ignore=shutil.ignore_patterns("__pycache__"))
    for old, new in (changes or {}).items():
        text = (source / "pyproject.toml").read_text()
        assert old in text
        (source / "pyproject.toml").write_text(text.replace(old, new))
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--quiet"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", str(site), str(source)],
        cwd=folder,
        check=True,
        timeout=120,
    )
    return site
