"""Ground truth by the matcher of nodes."""

from knowledge_manager.mission_table import MissionTable
from plugins.atopss.matching.naive import NaiveMatcher
from plugins.atopss.notifications import Notification
from plugins.atopss.published_values import values_of_row
from plugins.atopss.vectors import encode_notification
from plugins.ground_truth import Bytes, MatcherTruth
from plugins.readings import decode_exact


def ground_truth(table: MissionTable) -> MatcherTruth:
    """Return the ground truth of readings: by their exact values if a run recorded them, else by
    their bytes.
    """

    def tell(event: int, feature: int, row: Bytes, exact: bytes | None) -> bytes | None:
        corners = {} if exact is None else decode_exact(exact)
        bytes_ = {index: int(byte) for index, byte in enumerate(row)}
        values = values_of_row(event, feature, bytes_, corners, table)
        if not values:
            return None
        return encode_notification(Notification(0, 0, 0, event, values))

    return MatcherTruth(NaiveMatcher(table), tell)
