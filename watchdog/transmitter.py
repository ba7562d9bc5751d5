"""Sends the messages of a publisher on a board: hello, summary, and its outbox, one at a time."""

from watchdog.numbers import put_number

HELLO = 1
SUMMARY = 2
RETRY_MS = 1000
NOBODY = b"\x00\x00\x00\x00"
"""The session of a peer that is not known yet."""
LOYAL = 1
"""1 where a board may hear several mediators and recorded datagrams; 0 on a cable to one mediator."""


class Transmitter:
    """The state of a board's only contact, and the messages sent in it.

    `host` is a Watchdog or a SmallHost, `numbers` a Numbers, `authenticator` an Authenticator or None.
    `send(b, n)` transmits b[:n]. `out` is the buffer in which datagrams are put together; bytes 3 to 7 hold
    the table check and the node, and stay. `refused` counts datagrams not meant for this board, `dropped`
    notifications that did not fit into the outbox, and `tries` transmissions without an answer. `heard_ms` is
    when the mediator last sent something that cannot be a recording, and `heard_number` the number of that
    link message. Every session of a board is with one session of one mediator.
    """

    def __init__(self, out: bytearray, host, numbers, send, authenticator, room: int) -> None:  # type: ignore[no-untyped-def]
        self.out = out
        self.host = host
        self.numbers = numbers
        self.send = send
        self.authenticator = authenticator
        self.room = room
        self.refused = self.dropped = 0
        self.outbox = []  # type: list[bytearray]
        out[0] = 72 if authenticator else 64

    def begin(self) -> None:
        """Begin a session: greet whoever is there. It comes first, and again when the link was away."""
        self.session = bytearray(4)
        self.numbers.write(1, self.session, 0)
        self.peer = -1
        self.peer_session = NOBODY
        self.is_told = False
        self.sent = self.due_ms = self.tries = 0
        if LOYAL:
            self.heard_ms = 0
            self.heard_number = NOBODY

    def publish(self, payload: bytes | bytearray, n: int, now_ms: int) -> None:
        """Put a notification into the outbox; where that is full, the oldest one in it goes.

        What is published first is the announcement; its bytes 1 to 4 are filled in.
        """
        outbox = self.outbox
        if len(outbox) == self.sent:
            self.due_ms = 0
        if len(outbox) > self.room:
            outbox.pop(1)
            self.dropped += 1
        message = self.out[:8] + bytearray(10) + payload[:n]
        self.numbers.write(0, message, 8)
        put_number(message, 12, now_ms)
        message[1] = 35
        message[2] = message[17] = 1
        message[16] = payload[2]
        if not outbox:
            message[1] = 32
            message[2] = 0
            message[16] = 168
            self.numbers.write(0, message, 19)
        outbox.append(message)

    def transmit(self, n: int, number: int, payload: bytes | bytearray) -> None:
        """Send the first n bytes of `out`; for a link message, whose type is `number`, with this payload."""
        out = self.out
        if number:
            for i in range(12, 18):
                out[i] = 0
            out[1] = number
            out[2] = 0
            self.numbers.write(1, out, 8)
            out[8] |= 128
            for i in range(len(payload)):
                out[18 + i] = payload[i]
            n = 18 + len(payload)
        if self.authenticator:
            self.authenticator.append_tag(out, n, self.peer, NOBODY if number == HELLO else self.peer_session)
            n += 8
        self.send(out, n)

    def step(self, now_ms: int) -> None:
        """Send what is due: a hello, the summary, the next message of the outbox."""
        if 0 < self.due_ms - now_ms <= RETRY_MS:
            return
        self.due_ms = now_ms + RETRY_MS
        self.tries += 1
        hello = b"\x03" + self.session + self.peer_session
        if self.peer < 0:
            self.transmit(0, HELLO, hello)
        elif not self.is_told:
            self.transmit(0, SUMMARY, hello + b"\x00\x00" + self.host.origins())
        elif len(self.outbox) > self.sent:
            message = self.outbox[self.sent]
            for i in range(len(message)):
                self.out[i] = message[i]
            age_ms = now_ms - int.from_bytes(message[12:16], "big")
            put_number(self.out, 12, max(age_ms, 0))
            self.transmit(len(message), 0, hello)
        else:
            self.tries = 0
