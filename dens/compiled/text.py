"""Which modules are compiled, and the text that they were compiled from.

Chosen by profile: what every frame and every message passes, and what composing takes of every reading.
Compiled modules call each other as C does, so they are compiled, used and out of date together. Modules of
`dens/` that stay interpreted belong to the text too: their constants and types become a part of the compiled
code. Nothing else does (`mypy.ini`).
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

COMPILED: Final = (
    "dens/overlay/*.py",
    "dens/overlay/broker/*.py",
    "dens/overlay/covering/*.py",
    "dens/overlay/endpoints/*.py",
    "dens/overlay/mediator/*.py",
    "dens/overlay/session/*.py",
    "dens/overlay/storage/*.py",
    "dens/overlay/wire/*.py",
    "emulation/clock.py",
    "emulation/world/contact_schedule.py",
    "emulation/forwarding/overlay_contacts.py",
    "emulation/forwarding/routed_network.py",
    "emulation/forwarding/topology.py",
    "emulation/world/node.py",
    "emulation/radio.py",
    "emulation/world/reachability.py",
    "emulation/workload/sensing.py",
    "emulation/workload/applications.py",
    "emulation/world/world.py",
    "dens/node/recording/recorder.py",
    "plugins/composite/alternatives.py",
    "plugins/composite/bounds.py",
    "plugins/composite/composer.py",
    "plugins/composite/composites.py",
    "plugins/composite/search/events.py",
    "plugins/composite/search/finder.py",
    "plugins/composite/search/memory.py",
    "plugins/composite/pattern.py",
    "plugins/composite/search/search.py",
    "plugins/composite/search/stacks.py",
    "plugins/composite/vectors.py",
    "plugins/composite/search/watched.py",
)
"""A package with a module here calls `dens.compiled.finder.use_compiled` before anything of it is imported.
Policies
are not here, because classes of others may be derived from them, which compiled classes do not allow."""
SEEN: Final = (*COMPILED, "dens/interfaces.py", "dens/overlay/**/*.py")
CONFIGURATION: Final = "dens/compiled/mypy.ini"
PINS: Final = "requirements/compile.txt"
HOW: Final = ("dens/compiled/build.py", "dens/compiled/text.py", CONFIGURATION, PINS)
"""What says how it is compiled."""


def modules_to_compile(root: Path) -> list[str]:
    """Return the files that are compiled, relative to `root` and sorted."""
    found = _matching(root, COMPILED)
    return sorted(name for name in found if not name.endswith("/__init__.py"))


def text_behind(root: Path) -> list[str]:
    """Return all files that the compiled code depends on, sorted."""
    return sorted(_matching(root, SEEN) | set(HOW))


def digest(root: Path, files: Iterable[str]) -> str:
    """Return a number for what these files say now; a file that is gone says nothing."""
    sum = hashlib.sha256()
    for name in files:
        try:
            text = (root / name).read_bytes()
        except OSError:
            text = b""
        sum.update(f"{name} {len(text)} ".encode())
        sum.update(text)
    return sum.hexdigest()


def _matching(root: Path, patterns: Iterable[str]) -> set[str]:
    return {path.relative_to(root).as_posix() for pattern in patterns for path in root.glob(pattern)}
