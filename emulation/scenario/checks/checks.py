"""What needs more than one value of a scenario to be judged: names, roles, times, places.

Every check looks at the settings alone and yields problems at the place of the key that has to change.
"""

from collections.abc import Iterator
from dataclasses import fields

from dens.config.problems import Problem, did_you_mean, likely_meant, listed
from dens.config.toml_positions import Path
from dens.node.installed_policies import parameter_faults
from dens.overlay.limits import Limits
from emulation.scenario.checks.fault import check_faults
from emulation.scenario.checks.matching import check_matching
from emulation.scenario.checks.motion import check_motion
from emulation.scenario.checks.routing import check_routing
from emulation.scenario.checks.run_end import check_moment
from emulation.scenario.checks.unused import check_unused
from emulation.scenario.places import Places
from emulation.scenario.populations import MOST_SUBSCRIPTIONS, numbers_used
from emulation.scenario.settings.settings import MOST_NODES, Role, ScenarioSettings
from watchdog.lifetime import LONGEST_LIFETIME_S


def check_settings(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    """Yield everything that does not fit together."""
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
            message = "needs folder, or number: how many things everybody likes"
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
            message = f'"{publication.group}" are boards, which publish what they measure and no documents'
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
            "longer than anything lives (49.7 days): what is asked for or announced once, at the beginning, "
            "ends before the run does"
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
                f'there is no radio "{group.radio}"{did_you_mean(group.radio, known)} ({listed(known)})',
                meant=likely_meant(group.radio, known),
            )
        yield from check_motion(settings, index, places)
    nodes = sum(group.count * len(group.role) for group in settings.group)
    if nodes > MOST_NODES:
        yield places.problem(("group",), "D312", f"{nodes} nodes are too many; {MOST_NODES} is the most")


def _radios(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    for name, radio in settings.radio.items():
        for key, length_s in (
            ("setup_ms", radio.setup_ms / 1000),
            ("least_contact_s", radio.least_contact_s),
        ):
            if length_s >= settings.duration_s:
                message = (
                    f"no contact of a run of {settings.duration_s:g} s is longer; nobody would ever talk"
                )
                yield places.problem(("radio", name, key), "D312", message)


def _policies(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    for path, message in parameter_faults(settings.overlay.policies):
        code = "D305" if len(path) == 1 else "D302"
        yield places.problem(("overlay", "policies", *path), code, message)


def _limits(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    known = [limit.name for limit in fields(Limits)]
    for name in settings.overlay.limits:
        if name not in known:
            message = (
                f"there is no such limit{did_you_mean(name, known)}; dens/overlay/limits.py has them all"
            )
            meant = likely_meant(name, known)
            yield places.problem(("overlay", "limits", name), "D305", message, meant=meant, is_key=True)


def _reference(
    settings: ScenarioSettings, places: Places, path: Path, name: str, role: Role
) -> Iterator[Problem]:
    roles: dict[str, tuple[Role, ...]] = {group.name: group.role for group in settings.group}
    if name not in roles:
        known = list(roles)
        message = f'there is no group "{name}"{did_you_mean(name, known)} ({listed(known)})'
        yield places.problem(path, "D305", message, meant=likely_meant(name, known))
    elif role not in roles[name]:
        are = " and ".join(f"{one}s" for one in roles[name])
        message = f'the nodes of "{name}" are {are}; only {role}s can do this'
        yield places.problem(path, "D307", message)


def _traffic(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    counts = {group.name: group.count for group in settings.group}
    for index, traffic in enumerate(settings.traffic):
        path: Path = ("traffic", index)
        yield from _reference(settings, places, (*path, "source"), traffic.source, "publisher")
        yield from _reference(settings, places, (*path, "destination"), traffic.destination, "subscriber")
        if traffic.source == traffic.destination and counts.get(traffic.source) == 1:
            message = f'"{traffic.source}" is one node, and nobody sends messages to itself'
            yield places.problem((*path, "destination"), "D312", message)
        yield from check_moment(settings, places, (*path, "first_s"), traffic.first_s)


def _subscriptions(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    for index, subscription in enumerate(settings.subscription):
        yield from check_moment(settings, places, ("subscription", index, "at_s"), subscription.at_s)
        path: Path = ("subscription", index, "withdrawn_at_s")
        end_s = subscription.withdrawn_at_s
        yield from check_moment(settings, places, path, end_s)
        if end_s is not None and end_s <= subscription.at_s:
            message = f"{end_s:g} s is not after {subscription.at_s:g} s, when it is asked for"
            yield places.problem(path, "D312", message)
    for index, crowd in enumerate(settings.population):
        yield from check_moment(settings, places, ("population", index, "at_s"), crowd.at_s)
    for index, group in enumerate(settings.group):
        needed = numbers_used(settings, group.name)
        if needed > MOST_SUBSCRIPTIONS:
            message = f"each of its nodes would ask for {needed} things; {MOST_SUBSCRIPTIONS} is the most"
            yield places.problem(("group", index), "D312", message)


def _sensors(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    seen: set[tuple[str, str]] = set()
    for index, sensor in enumerate(settings.sensor):
        if (sensor.group, sensor.event) in seen:
            message = f'"{sensor.group}" already measures "{sensor.event}"'
            yield places.problem(("sensor", index, "event"), "D306", message)
        seen.add((sensor.group, sensor.event))
        yield from check_moment(settings, places, ("sensor", index, "at_s"), sensor.at_s)
