"""The HTML pages of one run and of a comparison."""
