"""Many publications against many subscriptions that are graphs: an index on files, and Spark."""
