"""Comparison of runs: runs that differ only in their seed are one variant.

Variants are found by comparing the resolved scenarios of all runs, setting by setting.
"""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from dens.config.problems import DocumentError
from dens.trace.manifest import Manifest
from spark_analysis.answers import Analysis
from spark_analysis.catalogue.evidence import REPORTED
from spark_analysis.catalogue.metric import Metric
from spark_analysis.catalogue.registry import compared
from spark_analysis.errors import TraceError
from spark_analysis.interval import Interval, interval
from spark_analysis.variant_labels import differing, variant_labels

MOMENTS: Final = 100
"""Points of a delay curve."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Runs of one scenario with different seeds, and each compared metric over them, by name."""

    label: str
    short: str
    """Short label: only the settings that differ."""
    seeds: tuple[int | None, ...]
    partial: bool
    figures: Mapping[str, Interval | None]
    arrived: tuple[tuple[float, float], ...]
    """(seconds, estimated share of expected deliveries that arrive within that time), the mean
    over the runs.
    """


@dataclass(frozen=True, slots=True)
class Comparison:
    """Variants in the order of their first runs."""

    variants: tuple[Variant, ...]
    differing: tuple[str, ...]
    """The paths of the settings in which they differ."""

    def as_document(self) -> dict[str, Any]:
        return asdict(self)


def refuse_other_vocabularies(runs: Sequence[tuple[Path, Manifest]]) -> None:
    """Raise `TraceError` if runs have different vocabularies: their figures are not comparable."""
    for folder, manifest in runs[1:]:
        first_folder, first = runs[0]
        if _vocabularies(manifest) != _vocabularies(first):
            mine, others = dict(_vocabularies(first)), dict(_vocabularies(manifest))
            differing = sorted(
                name for name in mine.keys() | others.keys() if mine.get(name) != others.get(name)
            )
            raise TraceError(
                f"{folder}: its vocabularies differ from those of {first_folder} ({', '.join(differing)}); "
                "the runs cannot be compared; report each separately"
            )


def refuse_repeated_runs(runs: Sequence[tuple[Path, Manifest]]) -> None:
    """Raise `DocumentError` (D387) if a run, or one with the same settings and seed, is given twice, which
    would make intervals too narrow. Traces of real nodes have no seed; only their folders are compared.
    """
    folders: dict[Path, Path] = {}
    seeds: dict[tuple[str, int], Path] = {}
    for folder, manifest in runs:
        advice = "name each run once, or use another seed"
        if folder.resolve() in folders:
            message = f"this run is given twice; {advice}"
            raise DocumentError.of_file(str(folder), "D387", message)
        folders[folder.resolve()] = folder
        if manifest.seed is None:
            continue
        key = json.dumps(_settings(manifest), sort_keys=True), manifest.seed
        if key in seeds:
            message = f"same settings and seed ({manifest.seed}) as {seeds[key]}; {advice}"
            raise DocumentError.of_file(str(folder), "D387", message)
        seeds[key] = folder


def _vocabularies(manifest: Manifest) -> Mapping[str, str]:
    """Return the vocabularies of a run by name; older traces have names only."""
    return manifest.vocabularies or {str(name): "" for name in manifest.scenario.get("vocabularies", ())}


def compare(runs: Sequence[tuple[Manifest, Analysis]]) -> Comparison:
    """Group runs into variants. Intervals are over the seeds of a variant, and unknown for one run."""
    members: dict[str, list[tuple[Manifest, Analysis]]] = {}
    for manifest, analysis in runs:
        members.setdefault(json.dumps(_settings(manifest), sort_keys=True), []).append((manifest, analysis))
    moments = _moments([analysis for _, analysis in runs])
    settings = [_settings(of_variant[0][0]) for of_variant in members.values()]
    labels = zip(_labels(settings), variant_labels(settings, str(settings[0].get("name"))), strict=True)
    return Comparison(
        tuple(
            Variant(
                label,
                short,
                tuple(manifest.seed for manifest, _ in of_variant),
                any(manifest.partial for manifest, _ in of_variant),
                _over_seeds([analysis for _, analysis in of_variant]),
                _arrived([analysis for _, analysis in of_variant], moments),
            )
            for (label, short), of_variant in zip(labels, members.values(), strict=True)
        ),
        tuple(differing(settings)),
    )


def compared_metrics() -> tuple[Metric, ...]:
    """Return the metrics by which runs are compared, in their order."""
    return compared(REPORTED)


def _over_seeds(runs: Sequence[Analysis]) -> dict[str, Interval | None]:
    """Return each metric over the runs of a variant."""
    found: dict[str, Interval | None] = {}
    for metric in compared_metrics():
        values = [analysis.metrics[metric.name].value for analysis in runs]
        known = [value for value in values if value is not None]
        over = None if metric.of_every_run and len(known) < len(values) else interval(known)
        found[metric.name] = None if over is None else over.possible(share=metric.is_share)
    return found


def _moments(runs: Sequence[Analysis]) -> tuple[float, ...]:
    """Return logarithmically spaced times over the range of all runs."""
    known = [max(time_s, 0.1) for analysis in runs for time_s in _reached(analysis)]
    if not known:
        return ()
    low, ratio = min(known), max(known) / min(known)
    return tuple(low * ratio ** (i / (MOMENTS - 1)) for i in range(MOMENTS))


def _reached(analysis: Analysis) -> list[float]:
    """Return the times within which 0 %, 1 %, … of the expected deliveries arrive, as far as they do."""
    return [time_s for time_s in analysis.delay.within_s if time_s is not None]


def _arrived(runs: Sequence[Analysis], moments: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Return the mean over runs of the estimated share of expected deliveries that arrive within
    each time.
    """
    curves = [_reached(analysis) for analysis in runs if analysis.delivery.total.expected]
    if not curves:
        return ()

    def share(reached: Sequence[float], within_s: float) -> float:
        return max(bisect_right(reached, within_s * 1.0001) - 1, 0) / 100

    return tuple((at, sum(share(curve, at) for curve in curves) / len(curves)) for at in moments)


def _settings(manifest: Manifest) -> dict[str, Any]:
    """Return every setting by its path, without seed and title."""
    flat: dict[str, Any] = {}
    _flatten("", {k: v for k, v in manifest.scenario.items() if k not in ("seed", "title")}, flat)
    return flat


def _flatten(path: str, value: Any, into: dict[str, Any]) -> None:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            _flatten(f"{path}.{name}" if path else str(name), inner, into)
    elif isinstance(value, list) and any(isinstance(inner, Mapping) for inner in value):
        for position, inner in enumerate(value):
            name = inner.get("name", position) if isinstance(inner, Mapping) else position
            _flatten(f"{path}.{name}", inner, into)
    else:
        into[path] = value


def _labels(variants: Sequence[dict[str, Any]]) -> list[str]:
    """Label each variant by the settings that differ; a single one by its name."""
    paths = differing(variants)
    return [
        ", ".join(f"{path} = {json.dumps(one[path], ensure_ascii=False)}" for path in paths if path in one)
        or str(one.get("name", "unnamed"))
        for one in variants
    ]
