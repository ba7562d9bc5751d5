"""Use cases of graph publications, taxonomies, and feeds of content management systems."""
