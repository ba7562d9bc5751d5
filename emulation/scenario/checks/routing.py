"""Checks permanent links, and how mediators route over them."""

from collections.abc import Iterator

from dens.config.problems import Problem
from dens.config.toml_positions import Path
from dens.node.settings.routing import BrokerSettings
from emulation.scenario.checks.run_end import check_moment
from emulation.scenario.places import Places
from emulation.scenario.settings.routing import CIRCLES
from emulation.scenario.settings.settings import OverlaySettings, ScenarioSettings


def check_routing(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    """Yield impossible settings, and warnings for those without effect."""
    yield from _links(settings, places)
    overlay = settings.overlay
    if overlay.routing == "carry":
        yield from _of_brokers_only(settings, places)
        return
    if overlay.routing == "broker" and not overlay.broker.advertisements:
        yield from _circles(settings, places)
    for key in ("policy", "covering"):
        if getattr(overlay, key) != OverlaySettings.model_fields[key].default:
            message = f'the routing is "{overlay.routing}", so it has no effect; leave it out'
            yield places.warning(("overlay", key), "D323", message)
    for index, group in enumerate(settings.group):
        if group.board is not None and "publisher" in group.role:
            message = "boards need installed subscriptions, and brokers do not install any"
            yield places.problem(("group", index, "board"), "D365", message)
    for index, advertised in enumerate(settings.advertisement):
        path: Path = ("advertisement", index)
        yield from check_moment(settings, places, (*path, "at_s"), advertised.at_s)
        end_s = advertised.withdrawn_at_s
        yield from check_moment(settings, places, (*path, "withdrawn_at_s"), end_s)
        if end_s is not None and end_s <= advertised.at_s:
            message = f"{end_s:g} s is not after {advertised.at_s:g} s, when it is advertised"
            yield places.problem((*path, "withdrawn_at_s"), "D312", message)


def _links(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    links = settings.links
    if links is None:
        return
    if settings.contacts is not None:
        message = (
            "recorded contacts ([contacts]) and permanent links ([links]) exclude each other; leave out one"
        )
        yield places.problem(("links",), "D361", message)
    mediators = sum(group.count for group in settings.group if "mediator" in group.role)
    if not mediators:
        message = "links connect mediators, and no group has that role"
        yield places.problem(("links",), "D361", message)
    if links.degree is None:
        return
    if links.kind == "tree" and links.degree != int(links.degree):
        message = f"a node of a tree cannot have {links.degree:g} children; use a whole number"
        yield places.problem(("links", "degree"), "D361", message)
    elif links.kind == "random" and links.degree > max(mediators - 1, 0):
        message = f"{mediators} mediators have at most {max(mediators - 1, 0)} links each"
        yield places.problem(("links", "degree"), "D361", message)
    elif links.kind not in ("tree", "random"):
        message = f"only a tree and a random graph have a degree, not a {links.kind}; leave it out"
        yield places.warning(("links", "degree"), "D323", message)


def _circles(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    links = settings.links
    if links is None:
        what = "contacts of moving devices, and recorded ones, have cycles"
    elif links.kind in CIRCLES:
        what = f'links of the kind "{links.kind}" have cycles'
    else:
        return
    message = f"{what}, in which subscriptions would circulate for ever; let publishers advertise"
    yield places.problem(("overlay", "broker", "advertisements"), "D362", message)


def _of_brokers_only(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    message = 'mediators carry, so it has no effect; set overlay.routing = "broker", or leave it out'
    if settings.overlay.broker != BrokerSettings():
        yield places.warning(("overlay", "broker"), "D323", message)
    for index in range(len(settings.advertisement)):
        yield places.warning(("advertisement", index), "D323", message)
