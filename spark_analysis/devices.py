"""Maps engines to devices.

A device with several roles has one engine per role. Its mediator represents it on the air, in motion and in
contacts; the other engines are named after it, `medics-3.subscriber` inside `medics-3`
(docs/reference/trace-format.md). Every count by device uses this map.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class Devices:
    """The devices of a run. `inside` maps each engine that does not represent its device to that device."""

    count: int
    inside: Mapping[int, int]

    def of(self, node: int) -> int:
        """Return the device of an engine; an unknown engine is its own device."""
        return self.inside.get(node, node)

    def of_all(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the device of each engine."""
        if not self.inside:
            return nodes
        engines = np.array(sorted(self.inside), np.int64)
        places = np.minimum(np.searchsorted(engines, nodes), len(engines) - 1)
        homes = np.array([self.inside[engine] for engine in engines.tolist()], np.int64)
        return np.where(engines[places] == nodes, homes[places], nodes)


def devices_of(nodes: Iterable[Mapping[str, Any]]) -> Devices:
    """Return the devices that the table `nodes` describes.

    >>> rows = [{"node": 0, "name": "a-1", "role": "mediator"}]
    >>> devices_of([*rows, {"node": 1, "name": "a-1.publisher", "role": "publisher"}])
    Devices(count=1, inside={1: 0})
    """
    rows = list(nodes)
    numbers = {row["name"]: row["node"] for row in rows}
    inside = {}
    for row in rows:
        device, dot, role = str(row["name"]).rpartition(".")
        if dot and role == row["role"] and device in numbers:
            inside[row["node"]] = numbers[device]
    return Devices(len(rows) - len(inside), inside)


def with_device(frame: "DataFrame", devices: Devices, node: str, device: str) -> "DataFrame":
    """Add a column `device` with the device of the engine in the column `node`."""
    from pyspark.sql import functions as F  # noqa: N812

    if not devices.inside:
        return frame.withColumn(device, F.col(node))
    rows = [(engine, home) for engine, home in devices.inside.items()]
    inside = frame.sparkSession.createDataFrame(rows, "_engine int, _device int")
    return (
        frame.join(F.broadcast(inside), F.col(node) == F.col("_engine"), "left")
        .withColumn(device, F.coalesce("_device", node))
        .drop("_engine", "_device")
    )
