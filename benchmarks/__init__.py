"""Measurements beside a peer or a physical limit, each from one run. `make bench` prints them."""
