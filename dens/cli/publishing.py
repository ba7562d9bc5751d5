"""Publishing documents at a DENS node, for the commands that do it."""

from collections.abc import Sequence
from pathlib import Path

import typer


def publish_documents(
    files: Sequence[Path],
    node: Path,
    *,
    number: int,
    at: str | None,
    store: Path | None,
    recover: bool,
    wait: float,
    anyway: bool,
    as_json: bool,
    advertisements: Sequence[Path] = (),
) -> None:
    """Publish the documents in these files and folders, tell what became of them, and end."""
    import json

    from dens.app.files import gather
    from dens.app.tables import other_thesaurus
    from dens.cli import console
    from dens.cli.node_links import end_links
    from dens.config import exit_codes as exits
    from dens.node.advertising import advertise, read_advertisements, report
    from dens.node.assembly import publisher
    from dens.node.clock import real_clock, refuse_clock, warn_of_clock
    from dens.node.output.event_output import Shown, warn_of_key
    from dens.node.output.stdout import putting_while_possible, say
    from dens.node.processes.documents import DocumentPublishing, offer_documents, read_documents
    from dens.node.processes.finding import finding_of
    from dens.node.processes.handover import SETTLE_S, Handover
    from dens.node.processes.probe import Answer
    from dens.node.processes.process import NodeProcess, live
    from dens.node.processes.publisher import announce, watchdog_for
    from dens.node.settings.node_file import load_node
    from dens.node.storage.opening import PUBLISHER, open_store, place_of_end
    from dens.node.storage.owner import Owner
    from dens.overlay.wire.authentication import Authenticator
    from knowledge_manager.dictionary.local import LocalDataDictionary
    from plugins.registry import publication_suffixes

    plan, clock = load_node(node), real_clock()
    gathered = gather(files, publication_suffixes())
    written = read_advertisements(advertisements, plan, other_thesaurus(plan.thesauri))
    documents = read_documents(gathered, plan.table, set(gathered) - set(files))
    if not documents:
        raise typer.BadParameter("there is no publication among these files", param_hint="DOCUMENT")
    links = end_links(plan, number, at)
    offered = LocalDataDictionary(plan.table)
    offer_documents(documents, offered)
    refuse_clock(clock())
    warn_of_key(plan)
    warn_of_clock(say)
    place = place_of_end(plan.folder, PUBLISHER, number, store)
    kept = open_store(place, Owner(PUBLISHER, number), clock(), say, recover=recover)
    watchdog = watchdog_for(
        plan.table, plan.settings.algorithm, plan.languages, advertises=plan.settings.routing != "carry"
    )
    end = publisher(plan, number, kept, clock(), watchdog)
    announce(end, offered, clock())
    spoken = dict.fromkeys(one.language.language_id for one in documents)
    advertised = advertise(end, offered, spoken, plan, clock(), written)
    report(advertised, say)
    settle_s = SETTLE_S if advertised.languages else 0.0
    handover = Handover(end, Shown(as_json, putting_while_possible()), settle_s)
    answer = Answer.of(end, plan, links, say)
    publishing = DocumentPublishing(handover, watchdog, documents, plan.table, say, answer, anyway)
    life = NodeProcess(
        end,
        kept,
        Authenticator(number, plan.secret),
        links,
        clock,
        handover.hear,
        work=lambda runtime: publishing.publish(runtime, wait),
        finding=finding_of(plan, end, links, clock()),
    )
    code = live(life)
    if as_json:
        typer.echo(json.dumps({"event": "ended", **publishing.figures()}))
    else:
        console.print_figures(publishing.figures())
    raise typer.Exit(code or (exits.FINDING if advertised.missing else exits.FINE))
