"""Forwarding layers: carry frames over several hops between devices that are not in range of each other."""
