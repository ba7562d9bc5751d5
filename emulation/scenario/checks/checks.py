"""Checks that need more than one value of a scenario: names, roles, times, places.

Every check uses the settings alone and yields problems at the key that has to change.
"""

from collections.abc import Iterator
from dataclasses import fields

from dens.config.problems import Problem, did_you_mean, likely_meant, listed
from dens.config.toml_positions import Path
from dens.node.installed_policies import parameter_faults
from dens.overlay.limits import Limits
from emulation.mobility.disaster_area import DisasterAreaTable
from emulation.scenario.checks.fault import check_faults
from emulation.scenario.checks.matching import check_matching
from emulation.scenario.checks.motion import check_motion
from emulation.scenario.checks.routing import check_routing
from emulation.scenario.checks.run_end import check_moment
from emulation.scenario.places import Places
from emulation.scenario.populations import MOST_SUBSCRIPTIONS, numbers_used
from emulation.scenario.settings.faults import DampingSettings
from emulation.scenario.settings.settings import MOST_NODES, NetworkSettings, Role, ScenarioSettings
from watchdog.lifetime import LONGEST_LIFETIME_S


def check_settings(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    """Yield all problems of the settings."""
    yield from _groups(settings, places)
    yield from _radios(settings, places)
    yield from _limits(settings, places)
    yield from _policies(settings, places)
    yield from check_matching(settings, places)
    for index, subscription in enumerate(settings.subscription):
        path: Path = ("subscription", index, "group")
        yield from _reference(settings, places, path, subscription.group, "subscriber")
    if settings.interests is not None:
        path = ("interests", "group")
        yield from _reference(settings, places, path, settings.interests.group, "subscriber")
        if settings.interests.number is None and settings.interests.folder is None:
            message = "needs folder, or number: how many values each participant likes"
            yield places.problem(("interests",), "D303", message)
    for index, crowd in enumerate(settings.population):
        path = ("population", index, "group")
        yield from _reference(settings, places, path, crowd.group, "subscriber")
    for index, sensor in enumerate(settings.sensor):
        path = ("sensor", index, "group")
        yield from _reference(settings, places, path, sensor.group, "publisher")
    for index, publication in enumerate(settings.publication):
        path = ("publication", index, "group")
        yield from _reference(settings, places, path, publication.group, "publisher")
        yield from check_moment(settings, places, ("publication", index, "at_s"), publication.at_s)
        last_s = publication.at_s + (len(publication.files) - 1) * publication.every_s
        if publication.at_s < settings.duration_s <= last_s:
            message = f"the last document comes at {last_s:g} s, after the end; it is never published"
            yield places.warning(("publication", index, "files"), "D323", message)
        if any(group.board for group in settings.group if group.name == publication.group):
            message = f'"{publication.group}" are boards, which publish readings but no documents'
            yield places.problem(path, "D324", message)
    for index, advertised in enumerate(settings.advertisement):
        path = ("advertisement", index, "group")
        yield from _reference(settings, places, path, advertised.group, "publisher")
    yield from check_routing(settings, places)
    yield from _traffic(settings, places)
    yield from check_faults(settings, places)
    yield from _subscriptions(settings, places)
    yield from _sensors(settings, places)
    yield from check_unused(settings, places)
    if settings.duration_s > LONGEST_LIFETIME_S:
        message = (
            "longer than the longest lifetime (49.7 days): subscriptions and announcements made at the "
            "beginning expire before the end of the run"
        )
        yield places.warning(("duration_s",), "D325", message)


def _groups(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, group in enumerate(settings.group):
        if group.name in seen:
            yield places.problem(("group", index, "name"), "D306", f'there is already a group "{group.name}"')
        seen.add(group.name)
        if len(set(group.role)) < len(group.role):
            yield places.problem(("group", index, "role"), "D306", "a role is named twice")
        if len(group.role) > 1 and "forwarder" in group.role:
            message = "every device forwards; a forwarder is one that does nothing else: leave it out here"
            yield places.problem(("group", index, "role"), "D307", message)
        elif len(group.role) > 1 and "mediator" not in group.role:
            message = 'a device with several roles needs a mediator among them: add "mediator"'
            yield places.problem(("group", index, "role"), "D307", message)
        if group.role == ("forwarder",) and not settings.network.is_routed:
            message = (
                f'with forwarding "{settings.network.forwarding}" nothing is forwarded, so these do nothing; '
                f"set network.forwarding, or leave the group out"
            )
            yield places.warning(("group", index, "role"), "D326", message)
        if group.radio not in settings.radio:
            known = list(settings.radio)
            yield places.problem(
                ("group", index, "radio"),
                "D305",
                f'unknown radio "{group.radio}"{did_you_mean(group.radio, known)} ({listed(known)})',
                meant=likely_meant(group.radio, known),
            )
        yield from check_motion(settings, index, places)
    nodes = sum(group.count * len(group.role) for group in settings.group)
    if nodes > MOST_NODES:
        yield places.problem(("group",), "D312", f"{nodes} nodes are too many; the limit is {MOST_NODES}")


def _radios(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    for name, radio in settings.radio.items():
        for key, length_s in (
            ("setup_ms", radio.setup_ms / 1000),
            ("least_contact_s", radio.least_contact_s),
        ):
            if length_s >= settings.duration_s:
                message = f"no contact in a run of {settings.duration_s:g} s is long enough to be used"
                yield places.problem(("radio", name, key), "D312", message)


def _policies(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    for path, message in parameter_faults(settings.overlay.policies):
        code = "D305" if len(path) == 1 else "D302"
        yield places.problem(("overlay", "policies", *path), code, message)


def _limits(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    known = [limit.name for limit in fields(Limits)]
    for name in settings.overlay.limits:
        if name not in known:
            message = f"unknown limit{did_you_mean(name, known)}; all limits are in dens/overlay/limits.py"
            meant = likely_meant(name, known)
            yield places.problem(("overlay", "limits", name), "D305", message, meant=meant, is_key=True)


def _reference(
    settings: ScenarioSettings, places: Places, path: Path, name: str, role: Role
) -> Iterator[Problem]:
    roles: dict[str, tuple[Role, ...]] = {group.name: group.role for group in settings.group}
    if name not in roles:
        known = list(roles)
        message = f'unknown group "{name}"{did_you_mean(name, known)} ({listed(known)})'
        yield places.problem(path, "D305", message, meant=likely_meant(name, known))
    elif role not in roles[name]:
        plural = " and ".join(f"{known}s" for known in roles[name])
        message = f'the nodes of "{name}" are {plural}; only {role}s can do this'
        yield places.problem(path, "D307", message)


def _traffic(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    counts = {group.name: group.count for group in settings.group}
    for index, traffic in enumerate(settings.traffic):
        path: Path = ("traffic", index)
        yield from _reference(settings, places, (*path, "source"), traffic.source, "publisher")
        yield from _reference(settings, places, (*path, "destination"), traffic.destination, "subscriber")
        if traffic.source == traffic.destination and counts.get(traffic.source) == 1:
            message = f'"{traffic.source}" has only one node, and nodes do not send messages to themselves'
            yield places.problem((*path, "destination"), "D312", message)
        yield from check_moment(settings, places, (*path, "first_s"), traffic.first_s)


def _subscriptions(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    for index, subscription in enumerate(settings.subscription):
        yield from check_moment(settings, places, ("subscription", index, "at_s"), subscription.at_s)
        path: Path = ("subscription", index, "withdrawn_at_s")
        end_s = subscription.withdrawn_at_s
        yield from check_moment(settings, places, path, end_s)
        if end_s is not None and end_s <= subscription.at_s:
            message = f"{end_s:g} s is not after {subscription.at_s:g} s, when it is subscribed"
            yield places.problem(path, "D312", message)
    for index, crowd in enumerate(settings.population):
        yield from check_moment(settings, places, ("population", index, "at_s"), crowd.at_s)
    for index, group in enumerate(settings.group):
        needed = numbers_used(settings, group.name)
        if needed > MOST_SUBSCRIPTIONS:
            message = (
                f"each of its nodes would have {needed} subscriptions; the limit is {MOST_SUBSCRIPTIONS}"
            )
            yield places.problem(("group", index), "D312", message)


def _sensors(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    seen: set[tuple[str, str]] = set()
    for index, sensor in enumerate(settings.sensor):
        if (sensor.group, sensor.event) in seen:
            message = f'"{sensor.group}" already measures "{sensor.event}"'
            yield places.problem(("sensor", index, "event"), "D306", message)
        seen.add((sensor.group, sensor.event))
        yield from check_moment(settings, places, ("sensor", index, "at_s"), sensor.at_s)


def check_unused(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    """Yield a warning for every table without effect: mostly a mistyped name or a removed group."""
    groups = settings.group
    for kind, described, used in (
        ("radio", settings.radio, {group.radio for group in groups}),
        ("energy", settings.energy, {group.energy for group in groups}),
        ("board", settings.board, {group.board for group in groups}),
    ):
        for name in described:
            if name not in used:
                message = (
                    f'no group has {kind} = "{name}", so it has no effect; add it to a group, or leave it out'
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
                message = "only the model disaster_area uses it, and no group has that model; leave it out"
                yield places.warning((kind, index), "D323", message)
    for index, group in enumerate(groups):
        if group.matcher is not None and "mediator" not in group.role:
            message = "only mediators match, and these are not mediators; leave it out"
            yield places.warning(("group", index, "matcher"), "D323", message)
        if group.damping != DampingSettings() and "publisher" not in group.role:
            message = "only publishers are damped, and these are not publishers; leave it out"
            yield places.warning(("group", index, "damping"), "D323", message)
