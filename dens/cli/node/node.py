"""`dens node`: a DENS node as a process, and the two ends to try it with."""

from pathlib import Path
from typing import Annotated

import typer

from dens.cli.node.knowledge import lookup, offers
from dens.cli.node.subscriptions import subscriptions
from dens.cli.options import NodeAt, NodeFile, OtherThesaurus
from dens.overlay.wire.codes import LAST_NODE

app = typer.Typer(
    no_args_is_help=True,
    help="Run a DENS node of this machine, ask it for something, give it something to measure.",
)

AsLines = Annotated[
    bool, typer.Option("--json", metavar="", help="Print one JSON document a line on stdout.")
]
Recover = Annotated[
    bool,
    typer.Option(
        "--recover", metavar="", help="Take over what is whole in a damaged store; it is kept aside."
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

app.command()(offers)
app.command()(lookup)
app.command()(subscriptions)

LONGEST_S = 366 * 86_400.0
"""The longest time that can be asked for; an endless one is asked for by saying nothing."""

Number = Annotated[
    int, typer.Option("--as", metavar="NODE", min=0, max=LAST_NODE, help="The number of this end.")
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
    from dens.node.assembly import mediator
    from dens.node.clock import real_clock, warn_of_clock
    from dens.node.output.event_output import Shown, begun, warn_of_key
    from dens.node.output.stdout import putting_while_possible, say
    from dens.node.processes.addresses import links_of_node
    from dens.node.processes.finding import finding_of
    from dens.node.processes.process import NodeProcess, live
    from dens.node.settings.node_file import load_node
    from dens.node.storage.opening import MEDIATOR, open_store
    from dens.node.storage.owner import Owner
    from dens.overlay.wire.authentication import Authenticator

    plan, clock = load_node(node), real_clock()
    number = plan.settings.node
    warn_of_key(plan)
    warn_of_clock(say)
    store = open_store(plan.store, Owner(MEDIATOR, number), clock(), say, recover=recover)
    engine = mediator(plan, store, clock())
    traced = None
    if trace is not None:
        from dens.node.recording.tracing import traced_node

        traced = traced_node(engine, plan, store, trace, clock(), say)
    put, links = putting_while_possible(), links_of_node(plan)
    show = Shown(as_json, put)
    life = NodeProcess(
        traced or engine,
        store,
        Authenticator(number, plan.secret),
        links,
        clock,
        show,
        look=show.look,
        begun=lambda address: begun(plan, address, put if as_json else None),
        finding=finding_of(plan, engine, links, clock()),
    )
    try:
        code = live(life)
    finally:
        show.look(clock(), at_the_end=True)
        show.summarise(clock(), engine.context.ledger.quarantined_count)
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
    at: NodeAt = None,
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
        list[str] | None,
        typer.Option(
            metavar="NAME|ID", help="Withdraw this subscription, and end; repeatable.", show_default=False
        ),
    ] = None,
    thesaurus: OtherThesaurus = None,
    as_json: AsLines = False,
) -> None:
    """Ask a DENS node for something and show what comes, each notification once, over restarts too.

    Subscriptions stay in force when this ends, and what comes meanwhile is kept by the DENS node. Ends 1 when
    fewer than --count came within --seconds, or the node refused something or never answered.
    """
    from dens.app.tables import other_thesaurus
    from dens.cli.node_links import end_links
    from dens.config.refusal import Refusal
    from dens.node.assembly import subscriber
    from dens.node.clock import real_clock, warn_of_clock
    from dens.node.keys import SigningKey, read_key
    from dens.node.output.event_output import shown_to_subscriber, warn_of_key
    from dens.node.output.stdout import say
    from dens.node.processes.finding import finding_of
    from dens.node.processes.probe import Answer
    from dens.node.processes.process import NodeProcess, live
    from dens.node.processes.subscriber import Listener, ask_for, withdraw_subscription
    from dens.node.settings.node_file import load_node
    from dens.node.storage.opening import SUBSCRIBER, open_store, place_of_end
    from dens.node.storage.owner import Owner
    from dens.overlay.wire.authentication import Authenticator

    plan, clock = load_node(node), real_clock()
    links = end_links(plan, number, at)
    signer = None
    if key is not None:
        found = read_key(key)
        if found.kind == "signing" and found.node != number:
            raise Refusal(f"{key} is subscriber {found.node}'s; call with --as {found.node}")
        signer = SigningKey(found)
    warn_of_key(plan)
    warn_of_clock(say)
    place = place_of_end(plan.folder, SUBSCRIBER, number, store)
    kept = open_store(place, Owner(SUBSCRIBER, number), clock(), say, recover=recover)
    end = subscriber(plan, number, kept, clock(), signer)
    words = other_thesaurus([*(thesaurus or ()), *plan.thesauri])
    ask_for(end, files or [], plan.table, clock(), say, signer, words)
    withdrawn = [withdraw_subscription(end, given, clock()) for given in withdraw or []]
    answer = Answer.of(end, plan, links, say)
    listener = Listener(end, shown_to_subscriber(plan, end, as_json), say, count, withdrawn, answer)
    authenticator = Authenticator(number, plan.secret)
    life = NodeProcess(
        end,
        kept,
        authenticator,
        links,
        clock,
        listener.hear,
        work=lambda runtime: listener.listen(runtime, seconds),
        finding=finding_of(plan, end, links, clock()),
    )
    raise typer.Exit(live(life))


@app.command()
def publish(
    node: NodeFile,
    readings: Annotated[
        str | None,
        typer.Argument(
            metavar="READINGS.csv",
            help="A recording; its first line names attributes.",
            show_default=False,
        ),
    ] = None,
    event: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What is measured: patient, weather, fire …", show_default=False),
    ] = None,
    documents: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Publish the documents in this folder instead.", show_default=False),
    ] = None,
    number: Number = 65_003,
    at: NodeAt = None,
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
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column that is no attribute, and need not be; repeatable.",
            show_default=False,
        ),
    ] = None,
    protocol: Annotated[
        str, typer.Option(metavar="NAME", help="How the source is read, where it is no file.")
    ] = "file",
    content_type: Annotated[
        str, typer.Option(metavar="TYPE", help="What the source yields, where it is no CSV.")
    ] = "text/csv",
    advertisements: Annotated[
        list[Path] | None,
        typer.Option(
            "--advertise",
            exists=True,
            dir_okay=False,
            metavar="FILE",
            help="What brokers are told that is published here, written as a subscription; repeatable.",
            show_default=False,
        ),
    ] = None,
    on_demand: Annotated[
        bool, typer.Option("--on-demand", help="Read only while somebody asks for what is measured.")
    ] = False,
    as_json: AsLines = False,
) -> None:
    """Replay a recording as a sensor would: a watchdog filters it, and what somebody asked for is published.

    What cannot be read, lies outside of its domain or is unknown is told with line and column and left out,
    never made to fit; the rest goes on. Ends 1 when there was any, when the DENS node has not taken all that
    was published (the rest waits in the store), and when it never answered. With --documents whole documents
    are told, such as graphs (.ttl, .jsonld, .rdf, .nt), as `dens publish` tells them.
    """
    if documents is not None:
        from dens.cli.publishing import publish_documents

        publish_documents(
            [documents],
            node,
            number=number,
            at=at,
            store=store,
            recover=recover,
            wait=wait,
            anyway=False,
            as_json=as_json,
            advertisements=advertisements or (),
        )
    if readings is None or event is None:
        raise typer.BadParameter(
            "give a recording with --event, or --documents DIR", param_hint="READINGS.csv"
        )
    import json
    import secrets

    from dens.app.tables import other_thesaurus
    from dens.cli import console
    from dens.cli.node_links import end_links
    from dens.config import exit_codes as exits
    from dens.node.advertising import advertise, read_advertisements, report
    from dens.node.assembly import publisher
    from dens.node.clock import real_clock, refuse_clock, warn_of_clock
    from dens.node.output.event_output import Shown, warn_of_key
    from dens.node.output.stdout import putting_while_possible, say
    from dens.node.processes.finding import finding_of
    from dens.node.processes.handover import SETTLE_S, Handover
    from dens.node.processes.probe import Answer
    from dens.node.processes.process import NodeProcess, live
    from dens.node.processes.publisher import Faults, Replay, announce, run_sources, watchdog_for
    from dens.node.settings.node_file import load_node
    from dens.node.sources.kinds import SourceOrder, made_source, source_kind
    from dens.node.storage.opening import PUBLISHER, open_store, place_of_end
    from dens.node.storage.owner import Owner
    from dens.overlay.wire.authentication import Authenticator
    from knowledge_manager.dictionary.local import LocalDataDictionary

    plan, clock = load_node(node), real_clock()
    links = end_links(plan, number, at)
    kind = plan.table.event(event)
    written = read_advertisements(advertisements or (), plan, other_thesaurus(plan.thesauri))
    faults = Faults()
    watchdog = watchdog_for(
        plan.table, plan.settings.algorithm, plan.languages, advertises=plan.settings.routing != "carry"
    )
    order = SourceOrder(
        readings,
        kind,
        frozenset(ignore or ()),
        lambda problem: faults.note(problem, say),
        watchdog.counters,
    )
    source = made_source(source_kind(protocol, content_type), order)
    offered = LocalDataDictionary(plan.table)
    offered.offer(kind.name, source.attributes, protocol, content_type)
    refuse_clock(clock())
    warn_of_key(plan)
    warn_of_clock(say)
    place = place_of_end(plan.folder, PUBLISHER, number, store)
    kept = open_store(place, Owner(PUBLISHER, number), clock(), say, recover=recover)
    registry = {(protocol, content_type): lambda number: source}
    environment = run_sources(watchdog, offered, plan.table, registry, say)
    end = publisher(plan, number, kept, clock(), watchdog)
    announce(end, offered, clock())
    spoken = [one for one in watchdog.filters if plan.languages[one].ground_truth is not None]
    advertised = advertise(end, offered, spoken, plan, clock(), written)
    report(advertised, say)
    answer = Answer.of(end, plan, links, say)
    shown = Shown(as_json, putting_while_possible())
    handover = Handover(end, shown, SETTLE_S if advertised.languages else 0.0)
    first = secrets.randbelow(1 << 16)
    replay = Replay(handover, watchdog, environment, source, readings, say, answer, first, faults=faults)
    life = NodeProcess(
        end,
        kept,
        Authenticator(number, plan.secret),
        links,
        clock,
        handover.hear,
        work=lambda runtime: replay.play(runtime, plan.table.feature_bytes, period, wait, on_demand),
        finding=finding_of(plan, end, links, clock()),
    )
    code = live(life)
    if as_json:
        broken = replay.faults.as_documents()
        typer.echo(json.dumps({"event": "ended", **replay.figures(), "broken": broken}))
    else:
        console.print_figures(replay.figures())
    raise typer.Exit(code or (exits.FINDING if advertised.missing else exits.FINE))
