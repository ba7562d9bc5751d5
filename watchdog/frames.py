"""Datagrams on a serial line: SLIP frames with a CRC.

    frame     END | escaped (datagram | CRC) | END
    escaped   END is ESCAPE 220, ESCAPE is ESCAPE 221, and 3 is ESCAPE 222, because a board's console takes
              a 3 for Ctrl-C and would stop the program
    CRC       CRC-16/CCITT-FALSE of the datagram, the high byte first

Bytes between frames, for example a line of text, are skipped.
"""

END = 192
ESCAPE = 219
INTERRUPT = 3


def crc_with(crc: int, byte: int) -> int:
    """Return the CRC of what `crc` is for and one byte more; it begins with 65535."""
    x = crc >> 8 ^ byte
    x ^= x >> 4
    return (crc << 8 ^ x << 12 ^ x << 5 ^ x) & 65535


def write_frame(datagram: bytes | bytearray, length: int, out: bytearray) -> int:
    """Write datagram[:length] as a frame into `out`, which has room for 2·length + 6; return the end."""
    out[0] = END
    to = 1
    crc = 65535
    for i in range(length + 2):
        if i < length:
            byte = datagram[i]
            crc = crc_with(crc, byte)
        else:
            byte = crc >> 8
            crc = crc << 8 & 65535
        if byte == END or byte == ESCAPE or byte == INTERRUPT:
            out[to] = ESCAPE
            to += 1
            byte = 220 if byte == END else 221 if byte == ESCAPE else 222
        out[to] = byte
        to += 1
    out[to] = END
    return to + 1


class Deframer:
    """Finds datagrams in a stream of bytes.

    After a `feed` that found one, `length` is how long it is and `buffer` holds it, or, where it is longer
    than the buffer, its beginning. `broken` counts what stood between two ENDs and was no frame.
    """

    def __init__(self, room: int) -> None:
        self.buffer = bytearray(room)
        self.length = 0
        self.broken = 0
        self.size = 0
        self.crc = 65535
        self.escaped = False

    def feed(self, data: bytes | bytearray, start: int) -> int:
        """Take bytes from data[start] on until a datagram is whole; return where to go on."""
        buffer = self.buffer
        room = len(buffer)
        size = self.size
        crc = self.crc
        escaped = self.escaped
        self.length = 0
        while start < len(data):
            byte = data[start]
            start += 1
            if byte == END:
                if crc == 0 and size > 2:
                    self.length = size - 2
                elif size:
                    self.broken += 1
                size = 0
                crc = 65535
                escaped = False
                if self.length:
                    break
                continue
            if byte == ESCAPE:
                escaped = True
                continue
            if escaped:
                escaped = False
                byte = END if byte == 220 else ESCAPE if byte == 221 else INTERRUPT
            crc = crc_with(crc, byte)
            if size < room:
                buffer[size] = byte
            size += 1
        self.size = size
        self.crc = crc
        self.escaped = escaped
        return start
