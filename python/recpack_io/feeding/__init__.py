"""Batches of a loader that are made elsewhere: by actors of a cluster, or by servers."""
