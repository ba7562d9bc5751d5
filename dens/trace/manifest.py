"""What a run says about itself: `manifest.json`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dens.trace.run_documents import manifest_of


@dataclass(frozen=True, slots=True)
class PlannedPartition:
    """Devices that reach only each other from `begin_ms` on, for `for_ms` (None: until the end).

    `who` has names of groups and of single devices; None is every device.
    """

    who: tuple[str, ...] | None
    begin_ms: int
    for_ms: int | None

    @property
    def end_ms(self) -> int | None:
        """Return when it is over; None: never."""
        return None if self.for_ms is None else self.begin_ms + self.for_ms


@dataclass(frozen=True, slots=True)
class Manifest:
    """The facts of a run that no table holds.

    `status` is `complete` when the run reached its end. Anything else means that the trace stops before it,
    and every answer drawn from it is an answer about that part only; `simulated_ms` says how far it got.
    """

    schema_version: int
    status: str
    simulated_ms: int
    seed: int | None
    scenario: Mapping[str, Any]
    vocabularies: Mapping[str, str] = field(default_factory=dict)
    """Name → text of the vocabularies that formed the mission table; their files may be gone by now."""
    taxonomies: Mapping[str, str] = field(default_factory=dict)
    """Name → compiled taxonomy, as text, of those that the vocabularies name."""
    node: int | None = None
    """The real node that wrote the trace and whose view alone it is; None of a run, which knows all nodes."""
    parts: Mapping[str, int] = field(default_factory=dict)
    """Table → how many parts it had when the run was complete; runs of older versions do not say."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Name of a file in the scenario → name of its copy in the run's `inputs/`."""

    @property
    def partial(self) -> bool:
        """Return whether the run stopped before its end."""
        return self.status != "complete"

    @property
    def name(self) -> str:
        """Return the scenario's name."""
        return str(self.scenario.get("name", "unnamed"))

    @property
    def policy(self) -> str | None:
        """Return the replication policy of the overlay, where the scenario says which."""
        return self._of_overlay("policy")

    @property
    def condition(self) -> str | None:
        """Return the feature condition of the mission, where the scenario says which."""
        return self._of_overlay("condition")

    def _of_overlay(self, key: str) -> str | None:
        overlay = self.scenario.get("overlay")
        said = overlay.get(key) if isinstance(overlay, dict) else None
        return None if said is None else str(said)

    def radio_rates(self) -> dict[str, float]:
        """Return the bytes a second of each group's radio, as far as the scenario says."""
        return {
            name: float(radio["rate_bytes_per_s"])
            for name, radio in self._radios()
            if radio.get("rate_bytes_per_s")
        }

    def radio_numbers(self, key: str) -> dict[str, int]:
        """Return a whole number that each group's radio states (`frame_bytes`, `overhead_bytes`)."""
        return {name: int(radio[key]) for name, radio in self._radios() if radio.get(key)}

    def _radios(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Return each group with its radio, as far as the scenario states one."""
        radios, groups = self.scenario.get("radio"), self.scenario.get("group")
        if not isinstance(radios, dict) or not isinstance(groups, list):
            return []
        named = [(str(group.get("name")), radios.get(group.get("radio"))) for group in groups]
        return [(name, radio) for name, radio in named if isinstance(radio, dict)]

    @property
    def partitions(self) -> tuple[PlannedPartition, ...]:
        """Return the partitions that the scenario plans, in its order."""
        faults = self.scenario.get("fault")
        return tuple(
            PlannedPartition(
                tuple(fault["who"]) if fault.get("who") else None,
                int(1000 * fault["at_s"]),
                None if fault.get("for_s") is None else int(1000 * fault["for_s"]),
            )
            for fault in (faults if isinstance(faults, list) else [])
            if fault.get("kind") == "partition" and fault.get("at_s") is not None
        )

    @property
    def title(self) -> str:
        """Return the scenario's title, or its name where it has none."""
        return str(self.scenario.get("title") or self.name)


def read_manifest(run: Path) -> Manifest:
    """Read `manifest.json` of a run's folder.

    Raises `NotARun` if the folder is not a run, and `DocumentError` if its manifest is damaged, of a newer
    version or out of bounds.
    """
    document = manifest_of(run)
    return Manifest(
        schema_version=document["schema_version"],
        status=document["status"],
        simulated_ms=document["simulated_ms"],
        seed=document.get("seed"),
        scenario=document.get("scenario", {}),
        vocabularies=document.get("vocabulary_documents", {}),
        taxonomies=document.get("taxonomy_documents", {}),
        node=document.get("node"),
        parts=document.get("parts", {}),
        inputs=document.get("inputs", {}),
    )
