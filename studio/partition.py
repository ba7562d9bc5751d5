"""What a node of a run can be offered at one moment: its partition, and what the nodes in it announced.

Read from the run's manifest and trace alone, without Spark: the question is about one moment.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from documents.refusal import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from knowledge_manager.distributed_dictionary import DistributedDataDictionary
    from knowledge_manager.event_class import EventClass
    from knowledge_manager.mission_table import MissionTable


@dataclass(frozen=True, slots=True)
class Partition:
    """The nodes that one node can reach at one moment, itself included, and how many hops away they are."""

    node: int
    at_ms: int
    hops: Mapping[int, int]
    names: Mapping[int, str]


class RunOffers:
    """The parts of a run's folder that tell who could offer what to whom."""

    def __init__(self, folder: Path) -> None:
        """Read the manifest and who takes part; a folder that is no run raises the trace's own error."""
        from traces.manifest import read_manifest

        self._folder = folder
        self._manifest = read_manifest(folder)
        self._nodes = self._rows("nodes", ["node", "name", "group", "role"])
        self._mediators = {row["node"] for row in self._nodes if row["role"] == "mediator"}

    @property
    def end_ms(self) -> int:
        """Return how far the run got."""
        return self._manifest.simulated_ms

    def mission_table(self) -> "MissionTable":
        """Return the mission table from the vocabularies that the manifest carries."""
        from knowledge_manager.mission_table import MissionTable
        from knowledge_manager.vocabulary_reader import read_vocabulary

        documents = self._manifest.vocabularies
        if not documents:
            raise Refusal(f"{self._folder}: the manifest carries no vocabularies; run the scenario again")
        return MissionTable(tuple(read_vocabulary(text, name) for name, text in documents.items()))

    def thesauri(self) -> "list[Path]":
        """Return the copies of the thesauri that the run's scenario brought along, the uppermost first."""
        from documents.untrusted_folder import file_in

        copies = self._manifest.inputs
        named = self._manifest.scenario.get("thesaurus") or []
        names = [named] if isinstance(named, str) else [str(name) for name in named]
        return [file_in(self._folder, f"inputs/{copies[name]}") for name in names if name in copies]

    def node_called(self, text: str) -> int:
        """Return the node of that name or number."""
        from documents.problems import did_you_mean, listed

        for row in self._nodes:
            if text in (str(row["node"]), row["name"]):
                return int(row["node"])
        names = [str(row["name"]) for row in self._nodes]
        raise Refusal(f'no node is called "{text}" ({listed(names)}){did_you_mean(text, names)}')

    def partition_of(self, node: int, at_ms: int) -> Partition:
        """Return whom the node reaches over the contacts of that moment.

        What is handed on goes through mediators, and one end of every contact that is of use is one; a node
        that is down is reached by nobody.
        """
        if not 0 <= at_ms <= self.end_ms:
            raise Refusal(f"--at {at_ms / 1000:g}: this run goes from 0 to {self.end_ms / 1000:g} seconds")
        down = self._down_at(at_ms)
        neighbours: dict[int, set[int]] = {}
        for row in self._rows("contacts", ["a", "b", "begin_ms", "end_ms", "censored"]):
            open_still = at_ms < row["end_ms"] or (row["censored"] and at_ms <= row["end_ms"])
            ends = {row["a"], row["b"]}
            if row["begin_ms"] <= at_ms and open_still and ends & self._mediators and not ends & down:
                neighbours.setdefault(row["a"], set()).add(row["b"])
                neighbours.setdefault(row["b"], set()).add(row["a"])
        hops = {} if node in down else {node: 0}
        frontier = list(hops)
        while frontier:
            handing_on = [near for near in frontier if near in self._mediators or near == node]
            reached = {far for near in handing_on for far in neighbours.get(near, ())} - hops.keys()
            hops |= dict.fromkeys(sorted(reached), hops[frontier[0]] + 1)
            frontier = sorted(reached)
        names = {int(row["node"]): str(row["name"]) for row in self._nodes}
        return Partition(node, at_ms, hops, names)

    def dictionary(self, partition: Partition, table: "MissionTable") -> "DistributedDataDictionary":
        """Return what the node knows when everybody in its partition has told what they measure."""
        from knowledge_manager.distributed_dictionary import DistributedDataDictionary
        from knowledge_manager.local_dictionary import LocalDataDictionary
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

    def _down_at(self, at_ms: int) -> set[int]:
        state = {
            row["node"]: row["state"]
            for row in self._rows("node_state", ["at_ms", "node", "state"])
            if row["at_ms"] <= at_ms
        }
        return {node for node, last in state.items() if last == "down"}

    def _rows(self, table: str, columns: list[str]) -> list[dict[str, Any]]:
        """Return the rows of a table in the order in which they were written."""
        from documents.untrusted_folder import parts_in
        from traces.tables import rows_of

        if not parts_in(self._folder, table):
            raise Refusal(f"{self._folder}: the trace has no table {table}; run the scenario again")
        return list(rows_of(self._folder, table, columns))


def _measured(source: Mapping[str, Any], event: "EventClass") -> list[str]:
    """Return what a source of the scenario fills: a recording its columns, a generator what it makes."""
    from emulation.scenario.sensors import made_by

    if "csv" not in source:
        return list(made_by(source["generator"], event))
    return [attribute.name for attribute in event.attributes if attribute.name in source["columns"]]
