"""Board tests need the runtimes of install.py. Leaving them out is a decision, and a visible one."""

import os
import warnings

import pytest

WITHOUT_BOARDS = os.environ.get("DENS_WITHOUT_BOARDS") == "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what needs a runtime when DENS_WITHOUT_BOARDS=1, and warn."""
    left_out = [item for item in items if WITHOUT_BOARDS and item.get_closest_marker("board")]
    for item in left_out:
        item.add_marker(pytest.mark.skip(reason="DENS_WITHOUT_BOARDS=1: not run on MicroPython"))
    if left_out:
        warnings.warn(
            pytest.PytestWarning(
                "DENS_WITHOUT_BOARDS=1: %d board tests are left out; nothing was proven on MicroPython"
                % len(left_out)
            ),
            stacklevel=1,
        )
