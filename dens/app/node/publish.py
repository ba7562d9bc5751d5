"""Publishes recordings and documents at a DENS node, as a publisher process of this machine."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dens.app.errors import BadArgument
from dens.app.node.node_links import end_links
from dens.config import exit_codes as exits

if TYPE_CHECKING:
    from dens.node.advertising import Advertised
    from dens.node.processes.addresses import Links
    from dens.node.processes.process import Work
    from dens.node.settings.node_file import NodePlan
    from dens.node.storage.sqlite import SqliteStore
    from dens.overlay.endpoints.publisher import PublisherEndpoint
    from dens.overlay.events import Event
    from knowledge_manager.dictionary.local import LocalDataDictionary
    from watchdog.watchdog import Watchdog

RECORDING: Final = ("file", "text/csv")
"""Protocol and content type of a CSV file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublisherOptions:
    """What a publisher needs, whatever it publishes."""

    node: Path
    number: int
    at: str | None = None
    store: Path | None = None
    recover: bool = False
    wait_s: float = 10.0
    advertisements: Sequence[Path] = ()
    """Advertisements for brokers, written as subscriptions."""
    show: "Callable[[Event], None]" = lambda event: None
    say: Callable[[str], None] = lambda line: None


@dataclass(frozen=True, slots=True)
class Published:
    """What was published, and the exit code: 1 if something was refused or not accepted in time."""

    exit_code: int
    figures: dict[str, Any]
    broken: list[dict[str, Any]] = field(default_factory=list)
    """The first invalid lines of a recording."""


def are_documents(files: Sequence[str]) -> bool:
    """Return whether all these are folders or have the suffix of a publication document."""
    from plugins.registry import publication_suffixes

    suffixes = publication_suffixes()
    return bool(files) and all(file.endswith(suffixes) or Path(file).is_dir() for file in files)


def publish_documents(
    files: Sequence[Path], options: PublisherOptions, *, without_subscription: bool = False
) -> Published:
    """Publish documents, and those in folders. Nothing is sent unless all of them are valid.

    A document is published when a subscription asks for it, or `without_subscription` at once.
    """
    from dens.app.files import gather
    from dens.node.processes.documents import DocumentPublishing, offer_documents, read_documents
    from knowledge_manager.dictionary.local import LocalDataDictionary
    from plugins.registry import publication_suffixes

    plan = _plan(options)
    gathered = gather(files, publication_suffixes())
    documents = read_documents(gathered, plan.table, set(gathered) - set(files))
    if not documents:
        raise BadArgument("none of these files is a publication", "FILE")
    offered = LocalDataDictionary(plan.table)
    offer_documents(documents, offered)
    publisher = _Publisher(plan, options, _watchdog(plan))
    languages = dict.fromkeys(one.language.language_id for one in documents)
    publisher.announce(offered, languages)
    publishing = DocumentPublishing(
        publisher.tracker,
        publisher.watchdog,
        documents,
        plan.table,
        options.say,
        publisher.reachability,
        without_subscription,
    )
    code = publisher.live(lambda runtime: publishing.publish(runtime, options.wait_s))
    return Published(code, publishing.figures())


def publish_recording(
    readings: str,
    event: str,
    options: PublisherOptions,
    *,
    kind: tuple[str, str] = RECORDING,
    ignored_columns: Sequence[str] = (),
    period_s: float = 1.0,
    on_demand: bool = False,
) -> Published:
    """Replay a recording through a watchdog, and publish what subscriptions ask for.

    `kind` is the protocol and content type of another source than a CSV file. Invalid values are reported
    and left out. With `on_demand` the source is read only while a subscription asks for it.
    """
    import secrets

    from dens.node.processes.publisher import Faults, Replay, run_sources
    from dens.node.sources.kinds import SourceOrder, made_source, source_kind
    from knowledge_manager.dictionary.local import LocalDataDictionary

    plan = _plan(options)
    measured = plan.table.event(event)
    watchdog, faults, say = _watchdog(plan), Faults(), options.say
    ignored = frozenset(ignored_columns)
    order = SourceOrder(
        readings, measured, ignored, lambda problem: faults.note(problem, say), watchdog.counters
    )
    source = made_source(source_kind(*kind), order)
    offered = LocalDataDictionary(plan.table)
    offered.offer(measured.name, source.attributes, *kind)
    publisher = _Publisher(plan, options, watchdog)
    environment = run_sources(watchdog, offered, plan.table, {kind: lambda number: source}, say)
    languages = [one for one in watchdog.filters if plan.languages[one].ground_truth is not None]
    publisher.announce(offered, languages)
    first = secrets.randbelow(1 << 16)
    replay = Replay(
        publisher.tracker,
        watchdog,
        environment,
        source,
        readings,
        say,
        publisher.reachability,
        first,
        faults=faults,
    )
    width = plan.table.feature_bytes
    code = publisher.live(lambda runtime: replay.play(runtime, width, period_s, options.wait_s, on_demand))
    return Published(code, replay.figures(), faults.as_documents())


def _plan(options: PublisherOptions) -> "NodePlan":
    from dens.node.settings.node_file import load_node

    return load_node(options.node)


def _watchdog(plan: "NodePlan") -> "Watchdog":
    from dens.node.processes.publisher import watchdog_for

    settings = plan.settings
    return watchdog_for(
        plan.table, settings.algorithm, plan.languages, advertises=settings.routing != "carry"
    )


class _Publisher:
    """A publisher with its store and its links, from the first announcement to the last acknowledgement."""

    def __init__(self, plan: "NodePlan", options: PublisherOptions, watchdog: "Watchdog") -> None:
        from dens.app.tables import other_thesaurus
        from dens.node.advertising import read_advertisements
        from dens.node.assembly import publisher
        from dens.node.clock import real_clock, refuse_clock, warn_of_clock
        from dens.node.output.event_output import warn_of_key
        from dens.node.processes.publication_tracker import PublicationTracker
        from dens.node.processes.reachability import NodeReachability
        from dens.node.storage.opening import PUBLISHER, endpoint_store_path, open_store
        from dens.node.storage.owner import Owner

        self._plan, self._options, self.watchdog = plan, options, watchdog
        self._clock = real_clock()
        self._written = read_advertisements(options.advertisements, plan, other_thesaurus(plan.thesauri))
        self._links: Links = end_links(plan, options.number, options.at)
        refuse_clock(self._clock())
        warn_of_key(plan)
        warn_of_clock(options.say)
        place = endpoint_store_path(plan.folder, PUBLISHER, options.number, options.store)
        owner = Owner(PUBLISHER, options.number)
        self._store: SqliteStore = open_store(
            place, owner, self._clock(), options.say, recover=options.recover
        )
        self._end: PublisherEndpoint = publisher(plan, options.number, self._store, self._clock(), watchdog)
        self.reachability = NodeReachability.of(self._end, plan, self._links, options.say)
        self.tracker = PublicationTracker(self._end, options.show)
        self._advertised: Advertised | None = None

    def announce(self, offered: "LocalDataDictionary", languages: Iterable[int]) -> None:
        """Announce what is measured, and advertise it to brokers."""
        from dens.node.advertising import advertise, report
        from dens.node.processes.publication_tracker import SETTLE_S
        from dens.node.processes.publisher import announce

        now_ms = self._clock()
        announce(self._end, offered, now_ms)
        self._advertised = advertise(self._end, offered, languages, self._plan, now_ms, self._written)
        report(self._advertised, self._options.say)
        self.tracker.settle_s = SETTLE_S if self._advertised.languages else 0.0

    def live(self, work: "Work") -> int:
        """Run the process until `work` is done; return the exit code."""
        from dens.node.processes.discovery_setup import discovery_setup
        from dens.node.processes.process import NodeProcess, run_process
        from dens.overlay.wire.authentication import Authenticator

        code = run_process(
            NodeProcess(
                self._end,
                self._store,
                Authenticator(self._options.number, self._plan.secret),
                self._links,
                self._clock,
                self.tracker.on_event,
                work=work,
                discovery=discovery_setup(self._plan, self._end, self._links, self._clock()),
            )
        )
        is_incomplete = self._advertised is not None and self._advertised.missing
        return code or (exits.FINDING if is_incomplete else exits.FINE)
