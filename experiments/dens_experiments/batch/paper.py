"""What the paper says of its figures, in our words, with the place. Its plots are missing from the copy that
we have, so that it can be held to its text alone.

B. Wang, W. Zhang, M. Kitsuregawa: A Self-Adaptive Model to Improve Average Response Time of Multiple-Event
Filtering for Pub/Sub System.
"""

from typing import Final

VALLEY: Final = "with the same events the response falls and rises again from root to leaf (§4.1, a valley)"
FEW_LOOPS: Final = "different events scatter when there are few loops, and follow the valley at 64 (§4.2)"
PRACTICAL: Final = "a practical run can stop beside the best level (§4.2, figure 5c)"
SLOWLY: Final = "the best level changes slowly with the size of the index (§5.2)"
FEWER_LOWER: Final = "the fewer events, the lower the best level (§5.2)"
SCALES: Final = "the improvement scales with the size of the index (§5.2)"
MORE_BETTER: Final = "the more events, the more is gained, up to nearly 50 % (§5.2)"
NEGLECTED: Final = "the cost of estimating can be neglected (§5.2)"
ADAPTIVE: Final = (
    "with the model the response is that of the best level, or hard to distinguish from it (§5.2)"
)
PIECE: Final = "in unstable status three levels alternate around the best (§5.2, figure 8)"

UNSTATED: Final = (
    "The paper gives neither its generators nor the widths of boxes nor the batch sizes of figures 5 and 7; "
    "8 and 128 are taken."
)
