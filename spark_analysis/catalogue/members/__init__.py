"""The metrics of DENS: every module defines one `METRIC`."""
