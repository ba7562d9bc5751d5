"""Other packages with the import names of ours.

The folders of the repository are import names, and some of them exist elsewhere (PyPI has a `watchdog`). The
advice is never to uninstall: two distributions in one environment share the folder, and removing one deletes
files of the other.
"""

import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Final

PACKAGES: Final = ("dens", "emulation", "knowledge_manager", "plugins", "spark_analysis", "watchdog")
OWN_ENVIRONMENT: Final = "install dens in an environment of its own (python -m venv, or pipx)"

_ROOT: Final = Path(__file__).resolve().parents[3]


def hidden_packages() -> Iterator[tuple[str, str]]:
    """Yield our packages that Python would import from elsewhere, and from where."""
    for name in PACKAGES:
        spec = PathFinder.find_spec(name)
        if spec is None or spec.origin is None:
            continue
        if Path(spec.origin).resolve().parent != _ROOT / name:
            yield name, spec.origin


def shared_packages() -> Iterator[tuple[str, str]]:
    """Yield our packages that another installed distribution has too, and its name."""
    distributions = packages_distributions()
    for name in PACKAGES:
        for other in sorted(set(distributions.get(name, ())) - {"dens"}):
            yield name, other


def describe_hidden_module(module: str) -> str | None:
    """Return why a module of ours cannot be imported, if a package of the same name hides it."""
    root = module.partition(".")[0]
    if root not in PACKAGES:
        return None
    loaded = getattr(sys.modules.get(root), "__file__", None)
    if loaded is None or Path(loaded).resolve().parent == _ROOT / root:
        return None
    return f"another package hides {root} of dens: {loaded}; start in another folder, or {OWN_ENVIRONMENT}"
