"""Limits of an engine. Nothing in the overlay grows beyond them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes of tables, and rates of transmission and retransmission. Times are milliseconds."""

    notification_items: int = 10_000
    """Notifications carried by a mediator, or kept in a publisher's outbox."""
    notification_bytes: int = 4_000_000
    """Their payload and envelope bytes."""
    origin_share_percent: int = 25
    """The share of those bytes, of those items and of remembered identities that one origin may use while
    another needs room.
    """
    subscriptions: int = 4_096
    """Subscriptions in force at a mediator, or filters at a publisher."""
    tombstones: int = 8_192
    """Remembered unsubscribes."""
    joins: int = 16_384
    """JOINs of neighbours at a broker; and as many of its own words to them. One neighbour has its share of
    `origin_share_percent` of either (dens/overlay/broker/quotas.py).
    """
    advertisements: int = 4_096
    """Advertisements at a broker; one neighbour has its share of them, and of `tombstones` of them."""
    receipts: int = 20_000
    """Delivery receipts carried."""
    announcements: int = 1_024
    """Publishers whose extract is known; beyond that, the oldest announcement is dropped."""
    quarantined: int = 256
    """Messages held only to be relayed, because handling them failed (dens/overlay/session/quarantine.py);
    beyond that, the oldest is dropped.
    """
    known_items: int = 100_000
    """Message identities remembered, so that released messages are not fetched again."""
    waiting_composites: int = 1_000
    """Composites of one subscription that a mediator holds until they are delivered; of more, the oldest go
    (dens/overlay/storage/notification_store.py).
    """
    known_results: int = 100_000
    """Results remembered, so that a result of several mediators is shown once
    (dens/overlay/session/results.py)."""
    contact_items: int = 16_384
    """Ranges of identities remembered of one contact: what the peer has, and as many of what came from it. Of
    more, the earlier half is forgotten, and may be offered once more.
    """
    lookups: int = 64
    """Look-ups that are open, or answered and remembered for those who ask again
    (dens/overlay/session/lookup.py)."""
    offers_bytes: int = 32_768
    """What one answer to a look-up says; of more, the publishers that are nearest, then the youngest."""
    knowledge_bytes: int = 65_536
    """Bytes of extracts of others at an endpoint; beyond that, the oldest are dropped."""
    owed: int = 100_000
    """Pending pairs of a notification and a subscription. Beyond that, those of a subscriber are found
    again when it is met (dens/overlay/storage/notification_store.py).
    """

    work_per_s: int = 500_000
    """Units of work that languages do for one origin in a second, in the long run
    (dens/overlay/session/work_budget.py)."""
    work_burst: int = 1_000_000
    """Units of those at once. One call does at most a quarter of them, where its language has a limit."""
    work_step: int = 200_000
    """Units of waiting work after which a node looks at its peers first
    (dens/overlay/mediator/deferred_work.py)."""
    session_ms: int = 1_000
    """So often a peer may begin a new session or summarise again, in the long run
    (dens/overlay/session/rate_limit.py)."""
    session_burst: int = 8
    """So many of those at once."""
    lookup_ms: int = 100
    """So often a peer may look something up, repetitions counted, in the long run."""
    lookup_burst: int = 32
    """So many of those at once."""
    lookup_hops: int = 8
    """Maximum number of mediators on the path of a look-up, the first one included."""
    lookup_again_ms: int = 30_000
    """Interval of look-ups while no publisher in reach can serve one of its subscriptions; then
    after ever longer, up to eight times as long (dens/overlay/endpoints/directory_client.py).
    """
    window_bytes: int = 16_384
    """The largest congestion window: unacknowledged bytes to one peer; one message is always allowed. An
    eighth at first, then as much of it as is answered within half of `retry_ms`.
    """
    summary_bytes: int = 48_000
    """What one summary says of known messages; what mediators know beyond that goes in further parts."""
    hello_ms: int = 1_000
    """Pause between hellos until the peer answers."""
    retry_ms: int = 1_000
    """First and least retransmission timeout (RTO): it grows with the measured round-trip time (RTT), and
    backs off with every try.
    """
    retry_most_ms: int = 16_000
    """Longest retransmission timeout."""
    ack_delay_ms: int = 200
    """How long acknowledgements are collected, so that one message and one commit serve many; at most a
    quarter of `retry_ms`, so that nothing is retransmitted for want of one.
    """
    ack_batch: int = 32
    """So many acknowledgements are sent at once without waiting; half a window of bytes also is."""
    linger_ms: int = 3_600_000
    """How long an expired subscription is still matched, for events from before its end that come late."""
    remember_ms: int = 600_000
    """How much longer than its lifetime a message is remembered: time in the air is not counted and clocks
    drift, so a copy may be alive elsewhere for a while.
    """
    number_step: int = 64
    """Message numbers are reserved in the store in steps, so that a restart never uses one twice."""
