"""What a source says to the network: the notifications that one reading is worth, written without
allocating.
"""

from watchdog.reading import Reading


class Outbox:
    """Writes notifications of one reading and remembers which features they serve.

    The last one written is vector[:length], and `degree_u8` is what released it.
    """

    def __init__(self, feature_bytes: int, lifetime: int) -> None:
        self.vector = bytearray(6 + 10 * feature_bytes)
        self.vector[2] = lifetime
        self.length = 0
        self.degree_u8 = 0
        self.reading = Reading(feature_bytes)
        self.event = bytearray(feature_bytes)
        self.served = bytearray(feature_bytes)
        self.served_end = 0

    def begin(self, reading: Reading) -> None:
        """Start over with this reading, which must not change until the scan is done."""
        self.reading = reading
        self.served_end = 0
        event = self.event
        i = len(event)
        while i:
            i -= 1
            event[i] = 0
        event[len(event) - 1 - (reading.event >> 3)] = 1 << (reading.event & 7)

    def release(self, block: bytearray, saf: int, degree_u8: int) -> None:
        """Write the notification of the feature at block[saf], and note that it is served.

        The byte before is its rank; a feature of rank 0 is served by everything that was measured.
        """
        reading = self.reading
        F = len(self.event)
        self.degree_u8 = degree_u8
        vector = self.vector
        vector[0] = reading.number >> 8
        vector[1] = reading.number & 255
        vector[3] = reading.stamp_s >> 8
        vector[4] = reading.stamp_s & 255
        vector[5] = degree_u8 // 17 << 4
        feature = block
        if block[saf - 1] == 0:
            feature = reading.mask
            saf = 0
        at = 6
        i = F
        while i:
            i -= 1
            bits = feature[saf + i] & (255 if i else 127)
            self.served[self.served_end + i] = bits
            attribute = F - 1 - i << 3
            while bits:
                if bits & 1:
                    vector[at] = reading.row[attribute]
                    at += 1
                bits >>= 1
                attribute += 1
        while i < F:
            vector[at + i] = self.event[i]
            vector[at + F + i] = self.served[self.served_end + i]
            i += 1
        self.served_end += F
        self.length = at + 2 * F
