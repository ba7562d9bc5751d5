"""What cannot be done with what was given, in one sentence."""


class Refusal(Exception):
    """A command cannot go on with what it was given; the message says what and what to do."""
