"""Use cases of graph publications and taxonomies."""
