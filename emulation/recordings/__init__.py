"""Reading of recordings of contacts and motion: lines of text within limits."""
