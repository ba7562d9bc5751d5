"""The workload of a run: applications subscribe, publish and send messages; sensors read."""
