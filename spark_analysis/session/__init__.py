"""Spark itself: Java, sessions, clusters, Spark Connect, and shipping code to workers."""
