"""Reads from a run the partition of a node at one moment, and what the nodes in it announced.

Needs only the manifest and the trace of the run, not Spark.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dens.config.refusal import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from knowledge_manager.dictionary.distributed import DistributedDataDictionary
    from knowledge_manager.mission_table import MissionTable
    from knowledge_manager.vocabulary.event_class import EventClass


@dataclass(frozen=True, slots=True)
class Partition:
    """The nodes that a node can reach at one moment, itself included, and their distance in hops."""

    node: int
    at_ms: int
    hops: Mapping[int, int]
    names: Mapping[int, str]


class RunOffers:
    """The manifest and the contacts of a run."""

    def __init__(self, folder: Path) -> None:
        """Read the manifest and the nodes. Raises `NotARun` if the folder is not a run."""
        from dens.trace.manifest import read_manifest

        self._folder = folder
        self._manifest = read_manifest(folder)
        self._nodes = self._rows("nodes", ["node", "name", "group", "role"])
        self._mediators = {row["node"] for row in self._nodes if row["role"] == "mediator"}

    @property
    def end_ms(self) -> int:
        """Return the simulated time of the run."""
        return self._manifest.simulated_ms

    def mission_table(self) -> "MissionTable":
        """Return the mission table of the vocabularies in the manifest."""
        from knowledge_manager.mission_table import MissionTable
        from knowledge_manager.vocabulary.reader import read_vocabulary

        documents = self._manifest.vocabularies
        if not documents:
            raise Refusal(f"{self._folder}: the manifest has no vocabularies; run the scenario again")
        return MissionTable(tuple(read_vocabulary(text, name) for name, text in documents.items()))

    def thesauri(self) -> "list[Path]":
        """Return the copies of the thesauri of the scenario, topmost first."""
        from dens.config.untrusted_folder import file_in

        copies = self._manifest.inputs
        named = self._manifest.scenario.get("thesaurus") or []
        names = [named] if isinstance(named, str) else [str(name) for name in named]
        return [file_in(self._folder, f"inputs/{copies[name]}") for name in names if name in copies]

    def node_called(self, text: str) -> int:
        """Return the number of the node with this name or number."""
        from dens.config.problems import did_you_mean, listed

        for row in self._nodes:
            if text in (str(row["node"]), row["name"]):
                return int(row["node"])
        names = [str(row["name"]) for row in self._nodes]
        raise Refusal(f'no node is called "{text}" ({listed(names)}){did_you_mean(text, names)}')

    def partition_of(self, node: int, at_ms: int) -> Partition:
        """Return the nodes that a node reaches over the contacts of that moment.

        Messages pass through mediators: one end of every contact on the way is a mediator. A node that is
        down is not reached. With forwarding, devices are in contact over up to hop-limit radio links, and
        wherever the trace has a contact beyond range.
        """
        if not 0 <= at_ms <= self.end_ms:
            raise Refusal(f"--at {at_ms / 1000:g}: this run covers 0 to {self.end_ms / 1000:g} seconds")
        down = self._down_at(at_ms)
        limit = self._hop_limit()
        links = self._open_at(at_ms, "contacts", down)
        beyond = {} if limit is None else self._open_at(at_ms, "overlay_contacts", down)

        def in_contact(near: int) -> dict[int, int]:
            found = _within(links, near, 1 if limit is None else limit)
            return {**beyond.get(near, {}), **found}

        hops = {} if node in down else _reached(node, self._mediators, in_contact)
        names = {int(row["node"]): str(row["name"]) for row in self._nodes}
        return Partition(node, at_ms, hops, names)

    def dictionary(self, partition: Partition, table: "MissionTable") -> "DistributedDataDictionary":
        """Return the dictionary of the node after all nodes of its partition have announced."""
        from knowledge_manager.dictionary.distributed import DistributedDataDictionary
        from knowledge_manager.dictionary.local import LocalDataDictionary
        from plugins.registry import languages

        alternatives = {number: language.lookup(table).question for number, language in languages().items()}
        known = DistributedDataDictionary(alternatives, table=table)
        groups = {int(row["node"]): str(row["group"]) for row in self._nodes}
        for node, hops in partition.hops.items():
            local = LocalDataDictionary(table)
            for sensor in self._sensors_of(groups[node]):
                event = table.event(sensor["event"])
                local.offer(event.name, _measured(sensor["source"], event))
            if local.sources:
                known.learn(node, local.extract(counter=1), partition.at_ms, hops=hops)
        return known

    def _sensors_of(self, group: str) -> "Iterable[dict[str, Any]]":
        return (sensor for sensor in self._manifest.scenario.get("sensor", ()) if sensor["group"] == group)

    def _hop_limit(self) -> int | None:
        """Return the hop limit of frames; None without forwarding."""
        network = self._manifest.scenario.get("network")
        if not isinstance(network, Mapping) or network.get("forwarding", "none") == "none":
            return None
        limit = network.get("hop_limit")
        if not isinstance(limit, int):
            raise Refusal(f"{self._folder}: the manifest has no network.hop_limit; run the scenario again")
        return limit

    def _open_at(self, at_ms: int, table: str, down: set[int]) -> dict[int, dict[int, int]]:
        """Return the contacts of a moment and their hops, by both nodes."""
        columns = ["a", "b", "begin_ms", "end_ms", "censored"]
        found: dict[int, dict[int, int]] = {}
        for row in self._rows(table, columns if table == "contacts" else [*columns, "hops"]):
            a, b = row["a"], row["b"]
            is_open = at_ms < row["end_ms"] or (row["censored"] and at_ms <= row["end_ms"])
            if row["begin_ms"] <= at_ms and is_open and not {a, b} & down:
                found.setdefault(a, {})[b] = found.setdefault(b, {})[a] = row.get("hops", 1)
        return found

    def _down_at(self, at_ms: int) -> set[int]:
        state = {
            row["node"]: row["state"]
            for row in self._rows("node_state", ["at_ms", "node", "state"])
            if row["at_ms"] <= at_ms
        }
        return {node for node, last in state.items() if last == "down"}

    def _rows(self, table: str, columns: list[str]) -> list[dict[str, Any]]:
        """Return the rows of a table in the order of writing."""
        from dens.config.untrusted_folder import parts_in
        from dens.trace.tables import rows_of

        if not parts_in(self._folder, table):
            raise Refusal(f"{self._folder}: the trace has no table {table}; run the scenario again")
        return list(rows_of(self._folder, table, columns))


def _within(links: Mapping[int, Mapping[int, int]], near: int, limit: int) -> dict[int, int]:
    """Return the devices within `limit` links, and their distance."""
    found = {near: 0}
    frontier = [near]
    while frontier and found[frontier[0]] < limit:
        further = {far for device in frontier for far in links.get(device, ())} - found.keys()
        found |= dict.fromkeys(further, found[frontier[0]] + 1)
        frontier = list(further)
    del found[near]
    return found


def _reached(
    node: int, mediators: set[int], in_contact: Callable[[int], Mapping[int, int]]
) -> dict[int, int]:
    """Return the fewest hops to every node that is reached through mediators, nearest first."""
    hops = {node: 0}
    waiting = [(0, node)]
    while waiting:
        so_far, near = heappop(waiting)
        if so_far > hops[near] or not (near in mediators or near == node):
            continue
        for far, more in in_contact(near).items():
            is_nearer = far not in hops or so_far + more < hops[far]
            if is_nearer and (near in mediators or far in mediators):
                hops[far] = so_far + more
                heappush(waiting, (hops[far], far))
    return dict(sorted(hops.items(), key=lambda reached: (reached[1], reached[0])))


def _measured(source: Mapping[str, Any], event: "EventClass") -> list[str]:
    """Return the attributes that a sensor measures: the columns of a recording, or those of a generator."""
    from emulation.scenario.sensors import made_by

    if "csv" not in source:
        return list(made_by(source["generator"], event))
    return [attribute.name for attribute in event.attributes if attribute.name in source["columns"]]
