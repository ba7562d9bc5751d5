"""Plain store-carry-forward of unicast messages over recorded contacts, to compare with other simulators."""
