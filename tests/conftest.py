"""What all tests share: how golden files are renewed (`make golden`), and how hypothesis behaves here."""

import os

import pytest
from _pytest.nodeid import NodeId
from hypothesis import HealthCheck, settings

# The same examples on every run: a failure that CI saw can be seen at home. `make soak` looks for new ones.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("soak", deadline=None, max_examples=10_000, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

os.environ.setdefault("DENS_PURE", "1")
"""Tests look inside and put other parts in place, which the compiled form does not allow. It is held to the
same bytes (tests/dens/compiled); `DENS_PURE=0` lets all tests run with it."""

collect_ignore_glob = [] if os.environ.get("DENS_SOAK") else ["soak/*"]
"""What takes minutes and hours is collected by `make soak` alone."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--renew-golden", action="store_true", help="write golden files anew instead of comparing"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long, so that no worker is left alone with it at the end, and let workers know
    which tests share what is dear to set up.

    xdist 3.8 writes the group of a test behind its id in a field that pytest 9 no longer reads, so that every
    worker would set up everything (`tests/contracts/test_groups.py` shows it).
    """
    for item in items:
        if "_nodeid" in vars(item):
            item._id = NodeId.parse(vars(item)["_nodeid"])
    items.sort(key=lambda item: not any(map(item.get_closest_marker, ("slow", "spark"))))
