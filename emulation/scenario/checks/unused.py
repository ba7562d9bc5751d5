"""What a scenario describes and nobody has: mostly a name that was mistyped or a group that was removed.

It changes nothing, so it is a warning.
"""

from collections.abc import Iterator

from dens.config.problems import Problem
from emulation.mobility.disaster_area import DisasterAreaTable
from emulation.scenario.places import Places
from emulation.scenario.settings.faults import DampingSettings
from emulation.scenario.settings.settings import NetworkSettings, ScenarioSettings


def check_unused(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    """Yield a warning for every table that has no effect."""
    groups = settings.group
    for kind, described, used in (
        ("radio", settings.radio, {group.radio for group in groups}),
        ("energy", settings.energy, {group.energy for group in groups}),
        ("board", settings.board, {group.board for group in groups}),
    ):
        for name in described:
            if name not in used:
                message = (
                    f'no group says {kind} = "{name}", so it has no effect; let one say it, or leave it out'
                )
                yield places.warning((kind, name), "D323", message)
    for name in settings.overlay.policies:
        if name != settings.overlay.policy:
            message = f'the policy is "{settings.overlay.policy}", so it has no effect; leave it out'
            yield places.warning(("overlay", "policies", name), "D323", message)
    network = settings.network
    for key in ("convergence_s", "hop_limit", "header_bytes"):
        if not network.is_routed and getattr(network, key) != NetworkSettings.model_fields[key].default:
            message = f'the forwarding is "{network.forwarding}", so it has no effect; leave it out'
            yield places.warning(("network", key), "D323", message)
    if not any(isinstance(group.mobility, DisasterAreaTable) for group in groups):
        for kind, entries in (("zone", settings.zone), ("obstacle", settings.obstacle)):
            for index in range(len(entries)):
                message = "only the model disaster_area knows it, and no group moves so; leave it out"
                yield places.warning((kind, index), "D323", message)
    for index, group in enumerate(groups):
        if group.matcher is not None and "mediator" not in group.role:
            message = "only mediators match, and these are none; leave it out"
            yield places.warning(("group", index, "matcher"), "D323", message)
        if group.damping != DampingSettings() and "publisher" not in group.role:
            message = "only publishers are damped, and these are none; leave it out"
            yield places.warning(("group", index, "damping"), "D323", message)
