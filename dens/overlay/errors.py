"""Whose fault it is: ours, or the peer's. Every error the overlay raises derives from `DensError`."""


class DensError(Exception):
    """Anything the overlay refuses."""


class LocalProtocolError(DensError):
    """The caller requested something that the protocol does not allow; nothing has changed."""


class RemoteProtocolError(DensError):
    """The peer sent bytes that are no message of this protocol; nothing has changed.

    `offset` is the first byte that is wrong, counted from the beginning of the datagram or payload.
    """

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(f"{message} (at byte {offset})")
        self.offset = offset


class OtherVersionError(RemoteProtocolError):
    """The peer speaks another version of this protocol; nothing of it is read."""


class StoreError(DensError):
    """A store gave back something that no engine wrote; the engine refuses to start from it."""


class DamagedStoreError(StoreError):
    """A store's file is not what was written to it; it can be recovered, which keeps the damaged file."""


class ForeignStoreError(StoreError):
    """A store's file belongs to another node, or to the same number as another kind; it was left alone."""


class StoreInUseError(StoreError):
    """A store's file is open in another process; one node at a time owns it."""


class MovedStoreError(StoreError):
    """A store's file is not where it was opened: it was moved, deleted or exchanged while it was in use. What
    would be written into it now, no restart would find.
    """


class BadKeyError(DensError):
    """A key is none, is of the wrong kind, or would be overwritten; the message says what to do."""
