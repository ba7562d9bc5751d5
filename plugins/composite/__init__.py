"""The language of composite events, number 4: sequences of events, and predictions of them."""
