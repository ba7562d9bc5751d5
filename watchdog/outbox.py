"""What a source says to the network: the notifications that one reading is worth, written without
allocating.
"""

from watchdog.reading import Reading


class Outbox:
    """Judges which features a reading can serve, writes its notifications, and remembers what they serve.

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
        self.values = bytearray(8 * feature_bytes)

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

    def wanted(self, block: bytearray, saf: int, exact: bool) -> int:
        """Take the values that the feature at block[saf] needs; return how many they are, the age included.

        0 means that the reading lacks one, or that a notification already released serves this feature.
        """
        reading = self.reading
        F = len(self.event)
        at = 0
        while at < self.served_end:
            i = 0
            while i < F and not block[saf + i] & (255 if i else 127) & ~self.served[at + i]:
                i += 1
            if i == F:
                return 0
            at += F
        n = 0
        any_present = 0
        i = F
        while i:
            i -= 1
            bits = block[saf + i]
            present = reading.mask[i]
            if i == 0:
                present |= 128
            any_present |= reading.mask[i]
            if bits & ~present or (exact and (bits ^ reading.mask[i]) & (255 if i else 127)):
                return 0
            attribute = F - 1 - i << 3
            while bits:
                if bits & 1:
                    self.values[n] = reading.row[attribute]
                    n += 1
                bits >>= 1
                attribute += 1
        return n if any_present else 0

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
