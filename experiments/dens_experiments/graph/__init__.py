"""The figures of chapter 5, 5.16 to 5.33: graphs against graphs, on one machine and on a cluster."""
