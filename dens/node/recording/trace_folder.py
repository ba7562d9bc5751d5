"""The trace folder of a node: like a run's, as far as that is possible without a scenario.

The manifest's status is `running` while the node runs and `complete` after it was stopped; a restarted node
continues the trace. Time 0 is when the folder was made. The tables are read at the start, so that no row is
written twice.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pyarrow.compute as pc

from dens.config.problems import DocumentError
from dens.config.refusal import Refusal
from dens.config.untrusted_folder import parts_in
from dens.node.settings.node_file import NodePlan
from dens.overlay.wire.item import ItemId, item_id
from dens.trace.folder_lock import FolderLock, FolderLocked
from dens.trace.manifest_schema import read_manifest_document
from dens.trace.run_folder import write_document
from dens.trace.schema import SCHEMA_VERSION, TABLES
from dens.trace.tables import read_rows, rows_of
from dens.trace.versions import versions
from dens.trace.writer import TraceWriter
from knowledge_manager.embedded_taxonomies import embed_taxonomies
from knowledge_manager.vocabulary.vocabulary import vocabulary_text

RevisionKey = tuple[int, int, int]
"""(subscriber, id, seq)."""


@dataclass(slots=True)
class Written:
    """Rows that are in the trace already and might otherwise be written again."""

    nodes: set[int] = field(default_factory=set)
    revisions: dict[RevisionKey, tuple[Any, ...]] = field(default_factory=dict)
    """The latest row of every revision."""
    notifications: dict[ItemId, int] = field(default_factory=dict)
    """When each of them expires, in the time of the trace."""
    deliveries: set[tuple[int, ItemId]] = field(default_factory=set)
    """(subscriber, notification)."""
    started_ms: int = 0
    """When the node was last started."""
    heard: list[tuple[int, int]] = field(default_factory=list)
    """(neighbour, when) of each datagram since then."""
    contacts: set[tuple[int, int, float]] = field(default_factory=set)
    """(a, b, begin_ms) of those that are written."""

    def forget_expired(self, at_ms: int) -> None:
        """Forget expired notifications and their deliveries, to bound the memory of a node that runs for
        weeks.
        """
        self.notifications = {id: end for id, end in self.notifications.items() if end > at_ms}
        self.deliveries = {one for one in self.deliveries if one[1] in self.notifications}


class TraceFolder:
    """The folder that one node writes. `began_ms` is the node's time at time 0 of the trace."""

    def __init__(self, path: Path, plan: NodePlan, now_ms: int) -> None:
        """Make the folder, or continue the one that this node wrote; any other is refused."""
        self._path = path
        self._document: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "node": plan.settings.node,
            "began_ms": now_ms,
            "seed": None,
            "scenario": {
                "name": f"node {plan.settings.node}",
                "title": f"DENS node {plan.settings.node}",
                "overlay": {
                    "policy": plan.settings.policy,
                    "policies": plan.settings.policies,
                    **({} if plan.settings.condition is None else {"condition": plan.settings.condition}),
                },
            },
            "vocabulary_documents": {str(name): vocabulary_text(name) for name in plan.vocabularies},
            **({"taxonomy_documents": embed_taxonomies(plan.table)} if plan.table.graphs else {}),
            "table_check": plan.table.check,
            "versions": versions(),
        }
        earlier = _earlier(path, self._document)
        if earlier is not None:
            self._document["began_ms"] = earlier["began_ms"]
        self.began_ms: int = self._document["began_ms"]
        self.goes_on_ms: int | None = None if earlier is None else earlier["simulated_ms"]
        """The end of the trace before the restart, in the trace's time."""
        self.was_ended = earlier is not None and earlier.get("status") == "complete"
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Refusal(f"{path}: the trace cannot be written there: {error.strerror}") from None
        try:
            self._lock = FolderLock(path)  # until the process ends
        except FolderLocked as error:
            raise Refusal(str(error)) from None
        self.written = _written(path, now_ms - self.began_ms)
        self.write_manifest("running", self.goes_on_ms or 0)
        self.writer = TraceWriter(path / "trace", goes_on=True)

    def write_manifest(self, status: Literal["running", "complete"], reached_ms: int) -> None:
        """Write the manifest with the status and the time up to which the tables are complete."""
        reached_ms = max(reached_ms, self.goes_on_ms or 0)  # a clock may have been put back
        document = {**self._document, "status": status, "simulated_ms": reached_ms}
        write_document(self._path, "manifest.json", document)


def _earlier(path: Path, document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the manifest of an earlier process of this node, None if the folder is empty."""
    if path.exists() and not path.is_dir():
        raise Refusal(f"{path} is a file; name a folder for the trace")
    if not path.exists() or not any(not one.name.startswith(".manifest.json") for one in path.iterdir()):
        return None
    try:
        earlier = read_manifest_document(path, SCHEMA_VERSION)
        theirs = {key: earlier[key] for key in ("schema_version", "node", "table_check")}
        earlier["began_ms"]
    except DocumentError as error:
        if any(problem.code != "D383" for problem in error.problems):
            raise  # a link, or no file at all
        raise Refusal(f"{path} is not empty and not the trace of a node; name another folder") from None
    except (OSError, KeyError):
        raise Refusal(f"{path} is not empty and not the trace of a node; name another folder") from None
    if theirs["node"] != document["node"]:
        raise Refusal(f"{path} holds the trace of node {theirs['node']}; name another folder")
    if theirs != {key: document[key] for key in theirs}:
        raise Refusal(f"{path} was written with other vocabularies or an older DENS; name another folder")
    return dict(earlier)


def _written(run: Path, now_ms: int) -> Written:
    """Read the rows that might be written again. Of the many parts of `messages` only the newest are read,
    back to the oldest notification that can still be delivered.
    """
    written = Written()
    written.nodes = {row["node"] for row in rows_of(run, "nodes", ["node"])}
    for row in rows_of(run, "subscriptions", TABLES["subscriptions"].names):
        written.revisions[row["subscriber"], row["id"], row["seq"]] = tuple(row.values())
    for row in rows_of(run, "node_state", ["at_ms", "state"]):
        if row["state"] == "up":
            written.started_ms = max(written.started_ms, row["at_ms"])
    horizon_ms = written.started_ms
    for row in rows_of(run, "notifications", ["origin", "number", "at_ms", "lifetime_ms"]):
        end_ms = row["at_ms"] + row["lifetime_ms"]
        if end_ms > now_ms:
            written.notifications[item_id(row["origin"], row["number"])] = end_ms
            horizon_ms = min(horizon_ms, row["at_ms"])
    for part in reversed(parts_in(run, "messages")):
        columns = ["at_ms", "kind", "node", "peer", "origin", "number"]
        table = read_rows(run, part, "messages", columns)
        for row in table.filter(pc.field("kind") == "delivered").to_pylist():
            written.deliveries.add((row["node"], item_id(row["origin"], row["number"])))
        came = (pc.field("kind") == "received") & (pc.field("at_ms") >= written.started_ms)
        written.heard += [(row["peer"], row["at_ms"]) for row in table.filter(came).to_pylist()]
        newest_ms = pc.max(table["at_ms"]).as_py()
        if newest_ms is not None and newest_ms < horizon_ms:
            break
    written.heard.sort(key=lambda one: one[1])
    rows = rows_of(run, "contacts", ["a", "b", "begin_ms"])
    written.contacts = {(row["a"], row["b"], row["begin_ms"]) for row in rows}
    return written
