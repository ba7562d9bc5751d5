"""`dens node`: a DENS node as a process, and the two ends to try it with."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from dens.drivers.neighbours import Address
    from dens.events import Event
    from studio.node.living import Links
    from studio.node.loading import NodePlan

app = typer.Typer(
    no_args_is_help=True,
    help="Run a DENS node of this machine, ask it for something, give it something to measure.",
)

NodeFile = Annotated[Path, typer.Argument(metavar="NODE.toml", help="The file of the DENS node.")]
AsLines = Annotated[
    bool, typer.Option("--json", metavar="", help="Print one JSON document a line on stdout.")
]
Recover = Annotated[
    bool,
    typer.Option(
        "--recover", metavar="", help="Take over what is whole in a damaged store; it is kept aside."
    ),
]
At = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Where the DENS node is; what its file says by default.", show_default=False
    ),
]
Store = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What this end must not forget; by default a file beside the node's, named by its number.",
        show_default=False,
    ),
]

LONGEST_S = 366 * 86_400.0
"""The longest time that can be asked for; an endless one is asked for by saying nothing."""

Number = Annotated[
    int, typer.Option("--as", metavar="NODE", min=0, max=65_535, help="The number of this end.")
]


@app.command()
def run(
    node: NodeFile,
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write down what happens, for `dens live` and `dens report`, or go on doing so.",
            show_default=False,
        ),
    ] = None,
    recover: Recover = False,
    as_json: AsLines = False,
) -> None:
    """Be a DENS node: store, match, carry and forward, until Ctrl-C (130) or SIGTERM (0).

    What was acknowledged survives any end of the process. Events are told as they happen.
    """
    from dens.seal import Sealer
    from dens.stores.owner import Owner
    from studio.node.living import Life, Links, live, real_clock
    from studio.node.loading import load_node
    from studio.node.output import putting_while_possible, say
    from studio.node.parts import mediator
    from studio.node.settings import address_of
    from studio.node.stores import MEDIATOR, open_store

    plan = load_node(node)
    settings, udp, clock = plan.settings, plan.settings.udp, real_clock()
    _warn_of_key(plan)
    store = open_store(plan.store, Owner(MEDIATOR, settings.node), say, recover=recover)
    engine = mediator(plan, store, clock())
    links = Links(
        None if udp is None else address_of(udp.address),
        plan.peers,
        udp is not None and udp.accept_others,
        30_000 if udp is None else 1000 * udp.silence_s,
        settings.serial,
    )
    traced = None
    if trace is not None:
        from studio.node.tracing import traced_node

        traced = traced_node(engine, plan, store, trace, clock(), say)
    put = putting_while_possible()
    life = Life(
        traced or engine,
        store,
        Sealer(settings.node, plan.secret),
        links,
        clock,
        _shown(as_json, put),
        begun=lambda address: _begun(plan, links, address, put if as_json else None),
    )
    code = live(life)
    if traced is not None:
        traced.end(clock())
    raise typer.Exit(code)


@app.command()
def subscribe(
    node: NodeFile,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[SUBSCRIPTION.xml…]", help="What to ask for; none: only listen."),
    ] = None,
    number: Number = 65_002,
    at: At = None,
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The signing key of this subscriber.", show_default=False),
    ] = None,
    store: Store = None,
    recover: Recover = False,
    count: Annotated[
        int | None,
        typer.Option(min=1, help="End after so many notifications.", show_default=False),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0, max=LONGEST_S, help="End after so much time.", show_default=False),
    ] = None,
    withdraw: Annotated[
        list[int] | None,
        typer.Option(
            metavar="ID", min=0, max=255, help="Take this subscription back, and end.", show_default=False
        ),
    ] = None,
    as_json: AsLines = False,
) -> None:
    """Ask a DENS node for something and show what comes, each notification once, over restarts too.

    Subscriptions stay in force when this ends, and what comes meanwhile is kept by the DENS node. Ends 1 when
    fewer than --count came within --seconds.
    """
    from dens.drivers.keys import SigningKey, read_key
    from dens.seal import Sealer
    from dens.stores.owner import Owner
    from studio.failures import Refusal
    from studio.node.asking import Ear, ask_for
    from studio.node.living import Life, live, real_clock
    from studio.node.loading import load_node
    from studio.node.output import say
    from studio.node.parts import subscriber
    from studio.node.stores import SUBSCRIBER, open_store, place_of_end

    plan, clock = load_node(node), real_clock()
    links = _links_of_end(plan, number, at)
    signer = None
    if key is not None:
        found = read_key(key)
        if found.kind == "signing" and found.node != number:
            raise Refusal(f"{key} is subscriber {found.node}'s; call with --as {found.node}")
        signer = SigningKey(found)
    _warn_of_key(plan)
    place = place_of_end(plan.folder, SUBSCRIBER, number, store)
    kept = open_store(place, Owner(SUBSCRIBER, number), say, recover=recover)
    end = subscriber(plan, number, kept, clock(), signer)
    ask_for(end, files or [], plan.table, clock(), say)
    withdrawn = [end.unsubscribe(id, clock()) for id in withdraw or []]
    ear = Ear(end, _delivered(plan, as_json), say, count, withdrawn)
    sealer = Sealer(number, plan.secret)
    life = Life(end, kept, sealer, links, clock, ear.hear, work=lambda runtime: ear.listen(runtime, seconds))
    raise typer.Exit(live(life))


@app.command()
def publish(
    node: NodeFile,
    readings: Annotated[
        Path, typer.Argument(metavar="READINGS.csv", help="A recording; its first line names attributes.")
    ],
    event: Annotated[str, typer.Option(metavar="NAME", help="What is measured: patient, weather, fire …")],
    number: Number = 65_003,
    at: At = None,
    store: Store = None,
    recover: Recover = False,
    period: Annotated[
        float,
        typer.Option(min=0, max=LONGEST_S, metavar="S", help="Seconds between readings."),
    ] = 1.0,
    wait: Annotated[
        float,
        typer.Option(
            min=0,
            max=LONGEST_S,
            metavar="S",
            help="How long to wait for the node, before and after.",
        ),
    ] = 10.0,
    as_json: AsLines = False,
) -> None:
    """Replay a recording as a sensor would: a watchdog filters it, and what somebody asked for is published.

    Ends 1 when the DENS node has not taken all of it; the rest waits in the store.
    """
    import json

    from dens.seal import Sealer
    from dens.stores.owner import Owner
    from studio import console
    from studio.node.living import Life, live, real_clock
    from studio.node.loading import load_node
    from studio.node.measuring import Replay, announce, recorded_attributes, watchdog_for
    from studio.node.output import putting_while_possible, say
    from studio.node.parts import publisher
    from studio.node.stores import PUBLISHER, open_store, place_of_end

    plan, clock = load_node(node), real_clock()
    links = _links_of_end(plan, number, at)
    kind = plan.table.event(event)
    names = recorded_attributes(readings, kind)
    _warn_of_key(plan)
    place = place_of_end(plan.folder, PUBLISHER, number, store)
    kept = open_store(place, Owner(PUBLISHER, number), say, recover=recover)
    watchdog = watchdog_for(plan.table)
    end = publisher(plan, number, kept, clock(), watchdog)
    announce(end, plan.table, kind, names, clock())
    replay = Replay(end, watchdog, _shown(as_json, putting_while_possible()), say)
    life = Life(
        end,
        kept,
        Sealer(number, plan.secret),
        links,
        clock,
        replay.hear,
        work=lambda runtime: replay.play(runtime, readings, plan.table, kind, period, wait),
    )
    code = live(life)
    if as_json:
        broken = [{"line": line, "why": why} for line, why in replay.broken]
        typer.echo(json.dumps({"event": "ended", **replay.figures(), "broken": broken}))
    else:
        console.print_figures(replay.figures())
    raise typer.Exit(code)


def _links_of_end(plan: "NodePlan", number: int, at: str | None) -> "Links":
    """Return how an end reaches the DENS node, from a port that the system chooses."""
    from studio.failures import Refusal
    from studio.node.living import SOON_MS, Links
    from studio.node.loading import NO_KEY
    from studio.node.settings import address_of, is_loopback

    if number == plan.settings.node:
        raise typer.BadParameter(
            f"{number} is the DENS node's own number; give another one", param_hint="--as"
        )
    if at is None and plan.settings.udp is None:
        raise Refusal("the node's file has no [udp]; ends talk to it over UDP")
    try:
        address = address_of(at if at is not None else plan.settings.udp.address)  # type: ignore[union-attr]
    except ValueError:
        raise typer.BadParameter(f"{at!r} is no address; give 127.0.0.1:7001", param_hint="--at") from None
    if address[1] == 0:
        raise Refusal(
            "the node's file lets the system choose the port; say --at ADDRESS, as the node told it"
        )
    if plan.secret is None and not is_loopback(address):
        raise Refusal(f"{address[0]} {NO_KEY}")
    is_six = ":" in address[0]
    if is_loopback(address):
        own = ("::1" if is_six else "127.0.0.1", 0)
    else:
        own = ("::" if is_six else "0.0.0.0", 0)
    return Links(own, {plan.settings.node: address}, silence_ms=SOON_MS)


def _warn_of_key(plan: "NodePlan") -> None:
    from dens.drivers.keys import is_private
    from studio.node.output import say

    if plan.mission_key is not None and plan.settings.key is not None:
        path = plan.folder / plan.settings.key
        if not is_private(plan.mission_key, path):
            say(f"{path} can be read by others; make it yours alone: chmod 600 {path}")


def _begun(
    plan: "NodePlan", links: "Links", address: "Address | None", put: "Callable[[str], None] | None"
) -> None:
    """Tell that the node is there: as a document where something puts those, else to the person."""
    import json

    from dens.drivers.neighbours import spoken
    from studio.node.output import say

    node, key = plan.settings.node, plan.mission_key
    where = [] if address is None else [spoken(address)]
    if put is not None:
        told = {
            "event": "begun",
            "node": node,
            "address": where[0] if where else None,
            "serial": [one.port for one in links.serial],
            "key": None if key is None else key.fingerprint,
        }
        put(json.dumps(told))
        return
    sealed = "without a mission key" if key is None else f"mission key {key.fingerprint}"
    places = ", ".join([*where, *(one.port for one in links.serial)])
    say(f"node {node} is on {places}, {sealed}; Ctrl-C ends it")


def _shown(as_json: bool, put: "Callable[[str], None]") -> "Callable[[Event], None]":
    from studio.node.telling import Teller

    teller = Teller(as_json=as_json)

    def show(event: "Event") -> None:
        line = teller.line(event)
        if line is not None:
            put(line)

    return show


def _delivered(plan: "NodePlan", as_json: bool) -> "Callable[[Event], None]":
    """Return what shows deliveries in words, or everything as documents."""
    from studio.node.output import put

    if as_json:
        return _shown(True, put)
    from dens.events import NotificationDelivered
    from plugins.fuzzy.describe import describe_vector

    def show(event: "Event") -> None:
        if isinstance(event, NotificationDelivered):
            says = " ".join(describe_vector(event.item.payload, plan.table, "nv").sentences)
            degree = max(one[2] for one in event.satisfied) / 255
            mark = "" if event.reason is None else f", {event.reason}"
            put(f"from {event.item.origin}: {says} (degree {degree:.2f}{mark})")

    return show
