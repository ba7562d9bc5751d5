"""Installs the browser that the report is opened in: Debian's Chromium, when this runs as root.

Playwright comes with the Python packages and drives it; no browser of Playwright's own is fetched.
"""

import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def chromium() -> str | None:
    """Return the browser's path, or None when there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def main() -> None:
    """Install it; with DENS_WITHOUT_BROWSER=1 nothing, and the tests say so."""
    if os.environ.get("DENS_WITHOUT_BROWSER") == "1":
        print("DENS_WITHOUT_BROWSER=1: no browser is installed; the tests that open pages will be left out.")
        return
    if chromium() is None:
        sys.path.insert(0, str(ROOT))
        from tests.dens.boards.install import install_debian_packages

        install_debian_packages(["chromium"], "the tests that open the report in a browser")


if __name__ == "__main__":
    main()
