"""The report is opened in real Chromium. Leaving that out is a decision, and a visible one."""

import os
import warnings
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.install import chromium

WITHOUT_BROWSER = os.environ.get("DENS_WITHOUT_BROWSER") == "1"

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
"""A browser that runs as root in a container, and opens no connections of its own."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what needs the browser when DENS_WITHOUT_BROWSER=1, and warn."""
    left_out = [item for item in items if WITHOUT_BROWSER and item.get_closest_marker("browser")]
    for item in left_out:
        item.add_marker(pytest.mark.skip(reason="DENS_WITHOUT_BROWSER=1: not opened in Chromium"))
    if left_out:
        warnings.warn(
            pytest.PytestWarning(
                f"DENS_WITHOUT_BROWSER=1: {len(left_out)} tests are left out; no page was opened in a browser"
            ),
            stacklevel=1,
        )


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """While it is open an event loop is running in this thread, and no other code can start one."""
    path = chromium()
    assert path is not None, (
        "Chromium is missing; `make test` installs it, DENS_WITHOUT_BROWSER=1 goes on without"
    )
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield opened
        opened.close()
