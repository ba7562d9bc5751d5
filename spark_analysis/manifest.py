"""What a run says about itself: `manifest.json`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from spark_analysis.errors import TraceError

SCHEMA_VERSION: Final = 2
"""The newest version of docs/trace-format.md that this room reads."""


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
    node: int | None = None
    """The real node that wrote the trace and whose view alone it is; None of a run, which knows all nodes."""
    parts: Mapping[str, int] = field(default_factory=dict)
    """Table → how many parts it had when the run was complete; runs of older versions do not say."""

    @property
    def partial(self) -> bool:
        """Tell whether the run stopped before its end."""
        return self.status != "complete"

    @property
    def name(self) -> str:
        """Return the scenario's name."""
        return str(self.scenario.get("name", "unnamed"))

    @property
    def policy(self) -> str | None:
        """Return the replication policy of the overlay, where the scenario says which."""
        overlay = self.scenario.get("overlay")
        policy = overlay.get("policy") if isinstance(overlay, dict) else None
        return None if policy is None else str(policy)

    def radio_rates(self) -> dict[str, float]:
        """Return the bytes a second of each group's radio, as far as the scenario says."""
        radios, groups = self.scenario.get("radio"), self.scenario.get("group")
        if not isinstance(radios, dict) or not isinstance(groups, list):
            return {}
        named = [(str(group.get("name")), radios.get(group.get("radio"))) for group in groups]
        return {
            name: float(radio["rate_bytes_per_s"])
            for name, radio in named
            if isinstance(radio, dict) and radio.get("rate_bytes_per_s")
        }

    @property
    def title(self) -> str:
        """Return the scenario's title, or its name where it has none."""
        return str(self.scenario.get("title") or self.name)


def read_manifest(run: Path) -> Manifest:
    """Read `manifest.json` of a run's folder; raise `TraceError` when that is not what the folder is."""
    file = run / "manifest.json"
    if not run.is_dir():
        raise TraceError(f"{run}: no such folder; a run is the folder that `dens run … --out` wrote")
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise TraceError(f"{run}: not a run, because it has no manifest.json") from None
    except OSError as error:
        raise TraceError(f"{file}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise TraceError(f"{file}: not JSON ({error}); run the scenario again") from error
    version = document.get("schema_version") if isinstance(document, dict) else None
    if not isinstance(version, int):
        raise TraceError(f"{file}: has no schema_version, so it is not the manifest of a run")
    if version > SCHEMA_VERSION:
        raise TraceError(
            f"{run}: its trace has schema version {version}, and this program reads up to {SCHEMA_VERSION}; "
            "read it with the version that wrote it, or a newer one"
        )
    simulated_ms = document.get("simulated_ms")
    if not isinstance(simulated_ms, int):
        raise TraceError(f"{file}: does not say how far the run got (simulated_ms); run the scenario again")
    scenario = document.get("scenario")
    vocabularies, parts = document.get("vocabulary_documents"), document.get("parts")
    return Manifest(
        schema_version=version,
        status=str(document.get("status", "unknown")),
        simulated_ms=simulated_ms,
        seed=document.get("seed"),
        scenario=scenario if isinstance(scenario, dict) else {},
        vocabularies=vocabularies if isinstance(vocabularies, dict) else {},
        node=document.get("node"),
        parts=parts if isinstance(parts, dict) else {},
    )
