"""Answers as people read them: the page of a run, the page of a comparison, their pictures."""
