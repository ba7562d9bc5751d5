"""Spark itself: Java, the session, clusters, Spark Connect, and how our code gets there."""
