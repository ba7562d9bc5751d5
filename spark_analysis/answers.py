"""What an analysis found, as plain facts: no Spark in them, and all but the map can be written as JSON.

Times are in seconds here because people read them. A ratio of nothing is None, never 0.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from spark_analysis.foretold import Foretold
from spark_analysis.matching_figures import MatchingDone


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Which run it was. A partial one stopped at `end_s`, before its scenario ends."""

    name: str
    title: str
    seed: int | None
    policy: str | None
    partial: bool
    end_s: float
    nodes_by_role: dict[str, int]
    subscriptions: int
    notifications: int
    devices: int = 0
    """A device with several roles has a node for each of them."""
    documents: int = 0
    """Those that sources offered to their filters."""
    document_frames: float | None = None
    """How many frames of the smallest radio a document that was sent takes, in the mean; None where no radio
    has frames."""


@dataclass(frozen=True, slots=True)
class Served:
    """How many notifications were owed to somebody, and what became of them (`pair_figures.py`)."""

    owed: int
    delivered: int
    missed: int
    open: int
    whole_delivered: int
    """Those of the delivered that had their whole lifetime."""
    lost: int = 0
    """Not delivered, lifetime not over, and no copy left."""
    withdrawn: int = 0
    """Not delivered when the subscription was withdrawn, within the lifetime."""
    whole: int = field(init=False)
    """Those that had their whole lifetime, delivered or not: it was over by the end, and the subscription
    was not withdrawn before."""
    ratio: float | None = field(init=False)
    """delivered / owed"""
    whole_ratio: float | None = field(init=False)
    """The ratio among those that had their whole lifetime."""

    def __post_init__(self) -> None:
        """Derive the ratios, so that they can never disagree with the counts."""
        whole = self.whole_delivered + self.missed
        object.__setattr__(self, "whole", whole)
        object.__setattr__(self, "ratio", self.delivered / self.owed if self.owed else None)
        object.__setattr__(self, "whole_ratio", self.whole_delivered / whole if whole else None)


@dataclass(frozen=True, slots=True)
class SubscriptionServed:
    """How one subscription revision was served."""

    subscriber: str
    id: int
    seq: int
    language: int
    document: str | None
    """None where chance made it."""
    served: Served


@dataclass(frozen=True, slots=True)
class GroupServed:
    """How the subscribers of one group were served together."""

    group: str
    served: Served


@dataclass(frozen=True, slots=True)
class LanguageServed:
    """What became of the notifications in one language; who was owed them may have asked in another."""

    language: int
    served: Served


@dataclass(frozen=True, slots=True)
class Delivery:
    """How much of what was owed arrived, in pairs of notification and subscriber.

    `repeated` and `not_owed` count deliveries that must not happen: shown twice, and shown to nobody who
    asked.
    """

    total: Served
    repeated: int
    not_owed: int
    by_group: tuple[GroupServed, ...]
    by_language: tuple[LanguageServed, ...]
    by_subscription: tuple[SubscriptionServed, ...]


@dataclass(frozen=True, slots=True)
class HopsDelay:
    """How many pairs arrived over this number of transfers between devices, and their mean delay."""

    hops: int
    delivered: int
    mean_s: float


@dataclass(frozen=True, slots=True)
class Delay:
    """How long pairs took; the definitions stand in `pair_figures.py` and `survival.py`.

    Of all owed pairs, of which `missed` and `lost` ones never arrive and `open` and `withdrawn` ones were
    watched only for a while:
    `median_s` and `within_s[i]`, the delay within which half and i % of them arrive (None where that many
    do not), `estimate`, the share of them that arrives within its lifetime, and `watched_s`, the longest that
    any was watched. Of the `delivered` pairs alone: mean, p50 to p99, the longest, and `quantiles_s[i]`, the
    delay within which i % of them arrived.
    """

    delivered: int
    missed: int
    open: int
    estimate: float | None
    median_s: float | None
    watched_s: float | None
    within_s: tuple[float | None, ...]
    mean_s: float | None
    p50_s: float | None
    p90_s: float | None
    p95_s: float | None
    p99_s: float | None
    max_s: float | None
    quantiles_s: tuple[float, ...]
    by_hops: tuple[HopsDelay, ...]
    lost: int = 0
    withdrawn: int = 0


@dataclass(frozen=True, slots=True)
class TypeTraffic:
    """What was sent of one message type, each message once, as its source sent it: how many, their bytes on
    the air with the overhead of their frames, and how many did not arrive."""

    type: str
    sent: int
    sent_bytes: int
    lost: int


@dataclass(frozen=True, slots=True)
class GivenUp:
    """How often copies of messages of one type were lost, dropped, refused, quarantined, undecided or expired
    for one reason."""

    kind: str
    type: str
    reason: str
    messages: int


@dataclass(frozen=True, slots=True)
class Overhead:
    """What the radio was used for; the definitions stand in `metrics/overhead.py`."""

    relayed: int
    delivered: int
    transmissions: int
    bytes_on_air: int
    forwarded: int
    by_type: tuple[TypeTraffic, ...]
    given_up: tuple[GivenUp, ...]
    duplicates: int = 0
    composite_deliveries: int = 0
    deliveries: int = 0
    delivered_between_devices: int = 0
    frames: int = 0
    forwarded_frames: int = 0
    forwarded_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Times:
    """A distribution of times of which some are only known to be longer than they were watched.

    The median is Kaplan and Meier's, None where it is more than `watched_s`, the longest that anything was
    watched; the mean is that of the known times alone.
    """

    known: int
    censored: int
    mean_s: float | None
    median_s: float | None
    watched_s: float | None
    survival: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Contacts:
    """How long pairs of devices were in range of each other and apart; `pairs_met` of `pairs` ever met."""

    pairs: int
    pairs_met: int
    contact: Times
    inter_contact: Times


@dataclass(frozen=True, slots=True)
class Filtering:
    """What the watchdogs judged and kept at home; the definitions stand in `metrics/filtering.py`."""

    judged: int
    released: int
    kept: int
    unasked: int
    suppressed: int
    notifications: int
    share_kept: float | None
    vector_bytes_judged: int
    vector_bytes_kept: int
    radio_s_kept: float | None
    mean_cost_us: float | None


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """What became of every pair of reading, or document, and subscriber that should have been told.

    The nine fates are those of `metrics/truth.py` and add up to `wanted`. `unwanted` counts pairs of reading
    or document that were delivered and not wanted, `released_in_vain` readings and documents that left their
    source and were not wanted. Plain messages and composites have no part in it.
    """

    delivered: int
    under_way: int
    too_late: int
    dropped: int
    never_carried: int
    held_back: int
    not_asked_for_this: int
    not_asked: int
    unwanted: int
    released_in_vain: int
    withdrawn: int = 0
    wanted: int = field(init=False)
    recall: float | None = field(init=False)
    """delivered / wanted"""
    precision: float | None = field(init=False)
    """delivered / (delivered + unwanted)"""

    def __post_init__(self) -> None:
        """Derive the sums, so that they can never disagree with the counts."""
        told = self.delivered + self.under_way + self.too_late + self.dropped + self.never_carried
        wanted = told + self.withdrawn + self.held_back + self.not_asked_for_this + self.not_asked
        shown = self.delivered + self.unwanted
        object.__setattr__(self, "wanted", wanted)
        object.__setattr__(self, "recall", self.delivered / wanted if wanted else None)
        object.__setattr__(self, "precision", self.delivered / shown if shown else None)


@dataclass(frozen=True, slots=True)
class Misled:
    """Pairs of reading and subscription of one language, where sensors err: both as they were told and as
    they truly were (`agreed`), only as told (`false`), only as they truly were (`missed`).
    """

    language: int
    agreed: int
    false: int
    missed: int


@dataclass(frozen=True, slots=True)
class Composites:
    """What became of every composite that was owed to a subscriber (`metrics/composites.py`), and how many
    were shown that were owed to nobody: predictions whose end the trace does not tell are among these.
    """

    delivered: int
    under_way: int
    too_late: int
    dropped: int
    never_met: int
    not_carried: int
    not_released: int
    unowed: int
    messages: int
    """that say what was owed, of all nodes that made one"""
    foretold: Foretold | None
    """what came of predictions; None where none has ended"""
    owed: int = field(init=False)
    ratio: float | None = field(init=False)
    """delivered / owed"""

    def __post_init__(self) -> None:
        """Derive the sums, so that they can never disagree with the counts."""
        made = self.delivered + self.under_way + self.too_late + self.dropped
        owed = made + self.never_met + self.not_carried + self.not_released
        object.__setattr__(self, "owed", owed)
        object.__setattr__(self, "ratio", self.delivered / owed if owed else None)


@dataclass(frozen=True, slots=True)
class Timeline:
    """Pairs that became owed, and pairs that were delivered, in each bin of the run's time."""

    bin_s: float
    owed: tuple[int, ...]
    delivered: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fairness:
    """How equally some were served: Jain's index of their ratios, the least and the largest one."""

    jain: float | None
    least: float | None
    largest: float | None

    @classmethod
    def of(cls, ratios: Iterable[float | None]) -> "Fairness":
        """Return how equal these ratios are; those who are owed nothing have none and take no part.

        The index (Jain, Chiu and Hawe 1984) is (Σx)² / (n·Σx²): 1 when all are served equally well, 1/n when
        one gets everything. Where nothing at all was delivered it is None.
        """
        known = [ratio for ratio in ratios if ratio is not None]
        squares = sum(ratio * ratio for ratio in known)
        jain = sum(known) ** 2 / (len(known) * squares) if squares else None
        return cls(jain, min(known, default=None), max(known, default=None))


@dataclass(frozen=True, slots=True)
class Pieces:
    """In how many pieces the network was at the moments 0, `every_s`, …, and the devices of the largest one.

    A device that is down is a piece of its own, and partitions separate. `reachable` counts the ordered
    pairs of devices, of all `pairs`, that time had joined by then: something that the one had at the
    beginning could be at the other, had every device carried it.
    """

    every_s: float
    pairs: int
    pieces: tuple[int, ...]
    largest: tuple[int, ...]
    reachable: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Holding:
    """Copies of notifications that all nodes together hold at the end of each bin, and their bytes.

    `degree` is how many devices had ever held a copy, for each notification made so far, that of its source
    included.
    """

    bin_s: float
    copies: tuple[int, ...]
    bytes: tuple[int, ...]
    degree: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class GroupLoad:
    """What the devices of one group held in their buffers and computed; the peaks are those of one device."""

    group: str
    nodes: int
    """Devices, whatever number of roles each has."""
    mean_items: float | None
    peak_items: int
    peak_bytes: int
    filter_s: float
    filter_us_per_reading: float | None
    matching: MatchingDone


@dataclass(frozen=True, slots=True)
class BrokerTables:
    """What the brokers of one group told their neighbours at the end, sums over all links: of `subscriptions`
    bodies `mergers` were made of several; they stood for `covered` others.
    """

    group: str
    brokers: int
    links: int
    advertisements: int
    subscriptions: int
    covered: int
    mergers: int


@dataclass(frozen=True, slots=True)
class GroupEnergy:
    """What the devices of one group in one role used: for being up, by radio, by computing.

    Of `devices` that any energy is known of, `empty` had a battery that ran empty.
    """

    role: str
    group: str
    devices: int
    idle_j: float
    radio_j: float
    compute_j: float
    empty: int


@dataclass(frozen=True, slots=True)
class Energy:
    """What the devices used of which the scenario states what things cost, what that is for each delivery,
    and running sums at the end of each bin. They are `devices` of `all_devices`; what the others used is not
    known. `sent_j` is for bytes sent and received.
    """

    total_j: float
    radio_j: float
    j_per_delivery: float | None
    radio_j_per_delivery: float | None
    by_group: tuple[GroupEnergy, ...]
    bin_s: float
    idle_j: tuple[float, ...]
    sent_j: tuple[float, ...]
    computed_j: tuple[float, ...]
    devices: int = 0
    all_devices: int = 0


@dataclass(frozen=True, slots=True)
class Track:
    """Where one node went: the corners of its path in metres."""

    node: str
    role: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where a contact began, in metres, and how long it lasted."""

    x_m: float
    y_m: float
    time_s: float


@dataclass(frozen=True, slots=True)
class MatchDetail:
    """What the language of a subscription said of its matches beyond their degree, and of how many
    notifications it said so. `detail` is in hexadecimal, `words` are the language's.
    """

    subscriber: str
    id: int
    seq: int
    document: str | None
    degree_u8: int
    detail: str
    words: str
    notifications: int
    delivered: int


@dataclass(frozen=True, slots=True)
class Measured:
    """A metric of one run: the value, the value for people, and what else to say of it."""

    value: float | None
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything that the report shows about one run."""

    run: RunFacts
    delivery: Delivery
    delay: Delay
    overhead: Overhead
    contacts: Contacts
    filtering: Filtering
    truth: GroundTruth
    fairness: Fairness
    """between subscribers"""
    fairness_of_groups: Fairness
    pieces: Pieces
    holding: Holding
    loads: tuple[GroupLoad, ...]
    energy: Energy | None
    """None where the scenario says of no device what things cost it."""
    timeline: Timeline
    tracks: tuple[Track, ...]
    meetings: tuple[Meeting, ...]
    composites: Composites | None = None
    """None where nobody asked in a language that composes."""
    brokers: tuple[BrokerTables, ...] = ()
    """What brokers told each other; nothing where mediators carry."""
    details: tuple[MatchDetail, ...] = ()
    """Those of most notifications; none of languages that have degrees alone."""
    misled: tuple[Misled, ...] = ()
    """by language; none where no sensor states an error"""
    metrics: Mapping[str, Measured] = field(default_factory=dict)
    """Every metric of the catalogue, by its name."""

    def as_document(self) -> dict[str, Any]:
        """Return everything but the map, which is motion and no answer, in JSON's types; of metrics their
        values.
        """
        document = asdict(self)
        del document["tracks"], document["meetings"]
        document["metrics"] = {name: one.value for name, one in self.metrics.items()}
        return document
