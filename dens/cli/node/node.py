"""`dens node`: runs a DENS node, a subscriber or a publisher on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from dens.cli.node.subscriptions import subscriptions
from dens.cli.options import NodeAt, NodeFile, OtherThesaurus
from dens.overlay.wire.codes import LAST_NODE

app = typer.Typer(
    no_args_is_help=True,
    help="Run a DENS node, subscribe at it, publish at it.",
)

AsLines = Annotated[
    bool, typer.Option("--json", metavar="", help="Print one JSON document per line on stdout.")
]
Recover = Annotated[
    bool,
    typer.Option(
        "--recover", metavar="", help="Recover the valid rows of a damaged store; keep the damaged file."
    ),
]
Store = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Store of this endpoint; by default next to NODE.toml, named by its number.",
        show_default=False,
    ),
]

LONGEST_S = 366 * 86_400.0
"""Upper bound of options in seconds; without the option there is none."""

Number = Annotated[
    int, typer.Option("--as", metavar="NODE", min=0, max=LAST_NODE, help="Node number of this endpoint.")
]


@app.command()
def run(
    node: NodeFile,
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write a trace for `dens live` and `dens report`, or continue one.",
            show_default=False,
        ),
    ] = None,
    recover: Recover = False,
    as_json: AsLines = False,
) -> None:
    """Run a DENS node until Ctrl-C (exit code 130) or SIGTERM (0).

    It stores, matches, carries and forwards messages, and prints events as they happen. Acknowledged
    messages survive a crash.
    """
    from dens.node.assembly import mediator
    from dens.node.clock import real_clock, warn_of_clock
    from dens.node.output.event_output import EventPrinter, report_ready, warn_of_key
    from dens.node.output.stdout import safe_writer, say
    from dens.node.processes.addresses import links_of_node
    from dens.node.processes.discovery_setup import discovery_setup
    from dens.node.processes.process import NodeProcess, run_process
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
    put, links = safe_writer(), links_of_node(plan)
    show = EventPrinter(as_json, put)
    process = NodeProcess(
        traced or engine,
        store,
        Authenticator(number, plan.secret),
        links,
        clock,
        show,
        each_second=show.report_repeated,
        on_ready=lambda address: report_ready(plan, address, put if as_json else None),
        discovery=discovery_setup(plan, engine, links, clock()),
    )
    try:
        code = run_process(process)
    finally:
        show.report_repeated(clock(), at_the_end=True)
        show.summarise(clock(), engine.context.durable.quarantined_count)
        if traced is not None:
            traced.end(clock())
    raise typer.Exit(code)


@app.command()
def subscribe(
    node: NodeFile,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[SUBSCRIPTION.xml…]", help="Subscriptions to issue; none: only listen."),
    ] = None,
    number: Number = 65_002,
    at: NodeAt = None,
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Signing key of this subscriber.", show_default=False),
    ] = None,
    store: Store = None,
    recover: Recover = False,
    count: Annotated[
        int | None,
        typer.Option(min=1, help="Exit after N notifications.", show_default=False),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0, max=LONGEST_S, help="Exit after this time.", show_default=False),
    ] = None,
    withdraw: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|ID", help="Withdraw this subscription and exit; repeatable.", show_default=False
        ),
    ] = None,
    thesaurus: OtherThesaurus = None,
    as_json: AsLines = False,
) -> None:
    """Subscribe at a DENS node and print each notification once, also across restarts.

    Subscriptions stay active after this command exits; the DENS node keeps what arrives meanwhile. Exits
    with 1 if fewer than --count notifications arrived within --seconds, or if the node rejected a
    subscription or did not answer.
    """
    from dens.app.node.node_links import end_links
    from dens.app.tables import other_thesaurus
    from dens.config.refusal import Refusal
    from dens.node.assembly import subscriber
    from dens.node.clock import real_clock, warn_of_clock
    from dens.node.keys import SigningKey, read_key
    from dens.node.output.event_output import subscriber_output, warn_of_key
    from dens.node.output.stdout import say
    from dens.node.processes.discovery_setup import discovery_setup
    from dens.node.processes.process import NodeProcess, run_process
    from dens.node.processes.reachability import NodeReachability
    from dens.node.processes.subscriber import Listener, subscribe_files, withdraw_subscription
    from dens.node.settings.node_file import load_node
    from dens.node.storage.opening import SUBSCRIBER, endpoint_store_path, open_store
    from dens.node.storage.owner import Owner
    from dens.overlay.wire.authentication import Authenticator

    plan, clock = load_node(node), real_clock()
    links = end_links(plan, number, at)
    signer = None
    if key is not None:
        found = read_key(key)
        if found.kind == "signing" and found.node != number:
            raise Refusal(f"{key} belongs to subscriber {found.node}; use --as {found.node}")
        signer = SigningKey(found)
    warn_of_key(plan)
    warn_of_clock(say)
    place = endpoint_store_path(plan.folder, SUBSCRIBER, number, store)
    kept = open_store(place, Owner(SUBSCRIBER, number), clock(), say, recover=recover)
    end = subscriber(plan, number, kept, clock(), signer)
    words = other_thesaurus([*(thesaurus or ()), *plan.thesauri])
    subscribe_files(end, files or [], plan.table, clock(), say, signer, words)
    withdrawn = [withdraw_subscription(end, given, clock()) for given in withdraw or []]
    reachability = NodeReachability.of(end, plan, links, say)
    listener = Listener(end, subscriber_output(plan, end, as_json), say, count, withdrawn, reachability)
    authenticator = Authenticator(number, plan.secret)
    process = NodeProcess(
        end,
        kept,
        authenticator,
        links,
        clock,
        listener.on_event,
        work=lambda runtime: listener.listen(runtime, seconds),
        discovery=discovery_setup(plan, end, links, clock()),
    )
    raise typer.Exit(run_process(process))


@app.command()
def publish(
    node: NodeFile,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE…",
            help="A recording (.csv, needs --event), or documents by suffix (.xml, .ttl, .rdf, .nt, "
            ".jsonld) and folders of them.",
        ),
    ],
    event: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Event class of the recording: patient, weather, …", show_default=False
        ),
    ] = None,
    number: Number = 65_003,
    at: NodeAt = None,
    store: Store = None,
    recover: Recover = False,
    period: Annotated[
        float,
        typer.Option(min=0, max=LONGEST_S, metavar="S", help="Recording: seconds between readings."),
    ] = 1.0,
    wait: Annotated[
        float,
        typer.Option(min=0, max=LONGEST_S, metavar="S", help="Seconds to wait for node and subscriptions."),
    ] = 10.0,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Recording: column that is not an attribute; repeatable.",
            show_default=False,
        ),
    ] = None,
    protocol: Annotated[
        str, typer.Option(metavar="NAME", help="Recording: protocol of another source than a file.")
    ] = "file",
    content_type: Annotated[
        str, typer.Option(metavar="TYPE", help="Recording: content type if it is not CSV.")
    ] = "text/csv",
    advertisements: Annotated[
        list[Path] | None,
        typer.Option(
            "--advertise",
            exists=True,
            dir_okay=False,
            metavar="FILE",
            help="Advertisement for brokers, written as a subscription; repeatable.",
            show_default=False,
        ),
    ] = None,
    on_demand: Annotated[
        bool,
        typer.Option("--on-demand", metavar="", help="Recording: read only while a subscription needs it."),
    ] = False,
    anyway: Annotated[
        bool,
        typer.Option(
            "--anyway", metavar="", help="Documents: publish also what matches no subscription here."
        ),
    ] = False,
    as_json: AsLines = False,
) -> None:
    """Publish a recording or documents at a DENS node.

    A recording is filtered as at a sensor: only readings that match a subscription are published.
    Invalid and unknown values are reported with line and column, and left out.

    Documents are sent only if all of them are valid; each is published once.

    Exits with 1 if values were left out, if no subscription matched a document, or if the DENS node did
    not accept everything (the rest stays in the store).
    """
    import json

    from dens.app.node.publish import (
        RECORDING,
        PublisherOptions,
        are_documents,
        publish_documents,
        publish_recording,
    )
    from dens.cli import console
    from dens.node.output.event_output import EventPrinter
    from dens.node.output.stdout import safe_writer, say

    kind = (protocol, content_type)
    is_recording = event is not None or kind != RECORDING
    if not is_recording and not are_documents(files):
        message = "a recording needs --event; documents end in .xml, .ttl, .rdf, .nt or .jsonld"
        raise typer.BadParameter(message, param_hint="FILE")
    if is_recording and (event is None or len(files) != 1):
        raise typer.BadParameter("give one recording and its --event", param_hint="FILE")
    options = PublisherOptions(
        node=node,
        number=number,
        at=at,
        store=store,
        recover=recover,
        wait_s=wait,
        advertisements=advertisements or (),
        show=EventPrinter(as_json, safe_writer()),
        say=say,
    )
    if event is None:
        published = publish_documents([Path(file) for file in files], options, without_subscription=anyway)
        details = {}
    else:
        published = publish_recording(
            files[0],
            event,
            options,
            kind=kind,
            ignored_columns=ignore or (),
            period_s=period,
            on_demand=on_demand,
        )
        details = {"broken": published.broken}
    if as_json:
        typer.echo(json.dumps({"event": "ended", **published.figures, **details}))
    else:
        console.print_figures(published.figures)
    raise typer.Exit(published.exit_code)


app.command()(subscriptions)
