"""Answers from traces: metrics, delays and reports, computed by Spark on a laptop or a cluster."""
