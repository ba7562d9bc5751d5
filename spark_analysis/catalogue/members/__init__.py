"""The metrics that come with DENS: every module here has one, called `METRIC`."""
