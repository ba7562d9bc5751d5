"""Use cases of the installation: doctor, pages, parts."""
