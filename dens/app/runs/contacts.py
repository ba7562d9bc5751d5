"""Reads contacts from a scenario or a recording, and summarises them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dens.app.errors import BadArgument

if TYPE_CHECKING:
    from emulation.contacts.contact import Contacts
    from emulation.contacts.statistics import ContactStatistics


@dataclass(frozen=True, slots=True)
class ReadContacts:
    """Contacts, and how long they were observed."""

    contacts: "Contacts"
    end_ms: float | None
    """None for a recording: it ends with its last contact."""
    is_planned: bool = False
    """Whether the scenario moves nodes during a run, so that its contacts will differ from these."""


def read_contacts(source: str, seed: int | None = None, least_s: float = 0.0) -> ReadContacts:
    """Compute the contacts of a scenario, or read a recording (The ONE, DTNSim2, CSV).

    Contacts of a recording that are shorter than `least_s` are lengthened.
    """
    path = Path(source)
    if path.suffix != ".toml" and (path.exists() or path.suffix or "/" in source):
        from emulation.contacts.formats.registry import read_contacts as read_recording

        if seed is not None:
            raise BadArgument("a recording has no seed; --seed is for scenarios", "--seed")
        return ReadContacts(read_recording(path, least_s * 1000.0), None)
    from emulation.motion import scenario_contacts
    from emulation.scenario import load_scenario

    if least_s:
        raise BadArgument("contacts of scenarios are exact; --least-s is for recordings", "--least-s")
    scenario = load_scenario(source)
    contacts = scenario_contacts(scenario, scenario.seed if seed is None else seed)
    return ReadContacts(contacts, float(scenario.duration_ms), bool(scenario.called()))


def contact_document(found: "ContactStatistics") -> dict[str, Any]:
    """Return the statistics that `dens contacts` prints: counts, means of known times, and medians by the
    Kaplan–Meier estimate that reports use. A median that is not reached is None.
    """
    from spark_analysis.survival import estimate

    document: dict[str, Any] = {
        "nodes": found.nodes,
        "pairs": found.pairs,
        "contacts": found.contacts,
        "contact_total_s": found.contact_total_s,
    }
    for name, times in (("contact", found.contact), ("inter_contact", found.inter_contact)):
        whole = estimate(
            (time_ms, not cut, cut, 0)
            for time_ms, cut in zip(times.times_ms.tolist(), times.censored.tolist(), strict=True)
        )
        document |= {
            f"{name}_known": whole.known,
            f"{name}_censored": whole.censored,
            f"{name}_mean_s": _seconds(whole.mean),
            f"{name}_median_s": _seconds(whole.median),
            f"{name}_watched_s": _seconds(whole.longest),
        }
    return document


def _seconds(time_ms: float | None) -> float | None:
    return None if time_ms is None else time_ms / 1000
