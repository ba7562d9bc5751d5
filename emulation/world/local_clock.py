"""Clocks of nodes that are wrong: what an engine tells in its own time is put into the world's.

Engines compare no clocks, so each may live in a time of its own (`Node.skew_ms` ahead of the world's).
"""

from dataclasses import replace

from dens.overlay.events import Event, HoldingsEnded, MessageEvent, NotificationMatched


def in_world_time(event: Event, skew_ms: int, least_ms: int) -> Event:
    """Return an event of a node whose clock is so far ahead, with the world's times. What ends because the
    clock was set ends when it was set, at `least_ms`."""
    if isinstance(event, MessageEvent):
        return event.in_time_of(skew_ms, least_ms)
    at_ms = max(event.at_ms - skew_ms, least_ms)
    if isinstance(event, NotificationMatched):
        return event.at(at_ms, event.item.created_ms - skew_ms)
    if isinstance(event, HoldingsEnded):
        return event.at(at_ms)
    return replace(event, at_ms=at_ms)
