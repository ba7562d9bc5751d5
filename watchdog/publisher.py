"""PUB/DENS for boards: one publisher, one mediator at a time, one message under way at a time.

It speaks the bytes of docs/reference/protocols.md and nothing else; how they travel is `send`'s business. A
board has no disk, so it is simpler than a publisher on a host: what it has installed it forgets in a restart;
it offers its announcement and what waits in its outbox in every session, without looking whether the mediator
has it; its summary names only the origins it knows, so that withdrawals are offered; and it keeps no
table of lifetimes: (8 + q mod 8)/8 · 2^⌊q/8⌋ seconds are never less than 2^(q/8) and less than a tenth more,
and what lives longer than a week is as good as what lives a week, because it is installed again.

A hello may be recorded in another contact, so it changes nothing: one that does not name the board's session
is answered with a hello. The board takes part when a summary names its session. While it has a mediator it
ignores the greetings of others; when its mediator has been silent, such a greeting makes the board repeat its
summary, and if that is not answered `tries` rises until the program begins a new session.
"""

from watchdog.transmitter import HELLO, LOYAL, NOBODY, Transmitter

ACKNOWLEDGEMENT = 3
INSTALL = 33
REMOVE = 34

LAST_ORIGIN = 65535
"""A pool has two bytes for a subscriber, so those with higher numbers are refused."""
LOYAL_MS = 10000
"""How long a mediator may be silent before the greeting of another one makes a board look for it."""
SOURCES = 1
"""1 where an execution environment may refuse what its sources cannot serve (watchdog/execution.py)."""

_STATUSES = b"\x00\x00\x00\x02\x04\x05\x06\x03\x02"
"""Wire status for each result code of a filter host from 0 to 8 (watchdog.codes)."""
_SOURCE_STATUSES = b"\x00\x00\x0a\x0b\x0c"
"""The same from 9 on; 9 and 10 are results of removals, which always succeed."""


class Publisher(Transmitter):
    """A publisher that also listens."""

    def receive(self, b: bytes | bytearray, n: int, now_ms: int) -> None:
        """Take a datagram of n bytes, of which b holds at least the beginning; whatever it is, nothing is
        raised.
        """
        if n < 18 or b[0] != self.out[0] or b[3] != self.out[3]:
            self.refused += 1
            return
        kind = b[1]
        origin = int.from_bytes(b[4:8], "big")
        link = b[8] > 127
        status = 8
        if self.authenticator:
            n -= 8
            if (
                n < 18
                or n + 8 > len(b)
                or not self.authenticator.verifies(
                    b, n, origin if link else self.peer, NOBODY if kind == HELLO else self.session
                )
            ):
                self.refused += 1
                return
        if LOYAL and link and kind != HELLO and origin == self.peer:
            if b[8:12] > self.heard_number:
                self.heard_number = bytes(b[8:12])
                self.heard_ms = now_ms
            elif kind == ACKNOWLEDGEMENT:
                return
        if link and kind == ACKNOWLEDGEMENT and origin == self.peer:
            for entry in range(22, n - 4, 9):
                if b[entry] > 127:
                    self.is_told = True
                elif self.sent < len(self.outbox) and b[entry : entry + 4] == self.outbox[self.sent][8:12]:
                    if self.sent:
                        self.outbox.pop(1)
                    self.sent = 1
                else:
                    continue
                self.due_ms = self.tries = 0
            return
        if link and kind < ACKNOWLEDGEMENT and n > 26 and b[18] == 2:
            if LOYAL and self.peer >= 0 and origin != self.peer:
                if self.is_told and now_ms - self.heard_ms > LOYAL_MS:
                    self.is_told = False
                    self.due_ms = 0
                return
            if b[23:27] != self.session:
                if LOYAL:
                    peer = self.peer
                    self.peer = origin
                self.transmit(0, HELLO, b"\x03" + self.session + b[19:23])
                if LOYAL:
                    self.peer = peer
                return
            if kind == HELLO:
                return
            session = bytes(b[19:23])
            if self.peer < 0:
                self.peer = origin
                self.peer_session = session
                self.due_ms = 0
                if LOYAL:
                    self.heard_number = bytes(b[8:12])
                    self.heard_ms = now_ms
            elif session != self.peer_session:
                self.begin()
                return
            status = 0
        elif link or self.peer < 0:
            self.refused += 1
            return
        elif n > len(b) or origin > LAST_ORIGIN:
            status = 4
        elif kind == REMOVE and n == 20:
            self.host.remove(origin, b[18], b[19], now_ms)
            status = 0
        elif kind == INSTALL and n > 20:
            left_ms = (8 + (b[16] & 7) << min(b[16] >> 3, 19)) * 125 - int.from_bytes(b[12:16], "big")
            status = (_STATUSES + _SOURCE_STATUSES if SOURCES else _STATUSES)[
                self.host.install(origin, b[18], b[19], b[2], bytes(b[18:n]), left_ms, now_ms)
            ]
        self.transmit(0, ACKNOWLEDGEMENT, bytes(b[4:12]) + bytes([status]))
