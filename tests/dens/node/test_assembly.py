"""What a node's file says about covering reaches the engines of its mission."""

from pathlib import Path

import pytest

from dens.config.problems import DocumentError
from dens.node.assembly import mediator, publisher
from dens.node.settings.node_file import load_node
from dens.overlay.storage.memory import MemoryStore
from tests.dens.node.node_process import node_file
from watchdog.watchdog import Watchdog


@pytest.mark.parametrize("covering", [True, False])
def test_a_nodes_file_switches_covering_for_its_mediator_and_the_ends_beside_it(
    tmp_path: Path, covering: bool
) -> None:
    path = node_file(tmp_path, 1)
    path.write_text("covering = true\n" * covering + path.read_text())
    plan = load_node(path)
    assert mediator(plan, MemoryStore(), 0).state.covering.is_on is covering
    end = publisher(plan, 9, MemoryStore(), 0, Watchdog({}))
    end.contact_opened(1, 0)
    [session] = end.context.sessions.values()
    end.state.summary_for(session, 1_000)
    assert end.state.summary_note(session, 0) == b"\x01" * covering


def test_covering_is_true_or_false(tmp_path: Path) -> None:
    path = node_file(tmp_path, 1)
    path.write_text('covering = "yes"\n' + path.read_text())
    with pytest.raises(DocumentError, match=rf"{path.name}:1:\d+: error D\d+: covering"):
        load_node(path)
