"""Which forwarding layers there are."""

from importlib.metadata import EntryPoint

import pytest

from dens.config.entry_points import OutsidePackageError
from emulation.forwarding.registry import ENTRY_POINT_GROUP, forwarding_kinds
from emulation.forwarding.shortest_path import SHORTEST_PATH


def test_the_layers_of_this_package_and_no_name_twice() -> None:
    assert list(forwarding_kinds([])) == ["none", "shortest_path"]
    assert forwarding_kinds([])["shortest_path"] is SHORTEST_PATH
    entry = EntryPoint("x", "emulation.forwarding.shortest_path:SHORTEST_PATH", ENTRY_POINT_GROUP)
    with pytest.raises(OutsidePackageError, match="the name 'shortest_path' is taken already"):
        forwarding_kinds([entry])
    entry = EntryPoint("x", "emulation.forwarding.shortest_path:ShortestPath", ENTRY_POINT_GROUP)
    with pytest.raises(OutsidePackageError, match="name a ForwardingKind of emulation"):
        forwarding_kinds([entry])
