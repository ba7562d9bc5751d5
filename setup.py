"""Additions to pyproject.toml: pages for `dens help`, and compiled modules if a C compiler is present.

`DENS_BUILD_PURE=1` builds a wheel without compiled modules. An editable installation is never compiled here:
a checkout runs interpreted until `make compiled`.
"""

import os
import shutil
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

import compile_engine  # noqa: E402


def is_compiled_here() -> bool:
    """Return whether this build compiles: a wheel, on a machine with a C compiler, unless switched off."""
    if "bdist_wheel" not in sys.argv or os.environ.get("DENS_BUILD_PURE", "") not in ("", "0"):
        return False
    missing = compile_engine.describe_missing_tool()
    if missing:
        print(f"building a pure wheel: {missing}")
    return not missing


IS_COMPILED = is_compiled_here()


class BuildWithPages(build_py):
    """Adds the pages of docs/ as package data, so that they are in git once, and the compiled modules."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        pages = Path(self.build_lib) / "dens" / "_pages"
        for folder in ("", "how-to", "reference", "explanation", "papers", "errors"):
            (pages / folder).mkdir(parents=True, exist_ok=True)
            for page in (ROOT / "docs" / folder).glob("*.md"):
                shutil.copy(page, pages / folder)
        if IS_COMPILED:
            work = Path(self.get_finalized_command("build").build_temp).resolve() / "engine"
            place = Path(self.build_lib).resolve() / "dens" / "_compiled"
            place.mkdir(exist_ok=True)
            compile_engine.compile_engine(place, work, ())


class MaybeCompiled(Distribution):
    """Tags the wheel for this platform if it has compiled modules."""

    def has_ext_modules(self) -> bool:
        return IS_COMPILED


setup(cmdclass={"build_py": BuildWithPages}, distclass=MaybeCompiled)
