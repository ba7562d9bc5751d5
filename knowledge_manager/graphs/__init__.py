"""RDF graphs: their terms, the files they are read from, taxonomies, and the term dictionary of a mission."""
