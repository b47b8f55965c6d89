"""Serves a loader's batches to trainers on other machines, over Arrow Flight.

    python -m recpack_io.flight serve /data/shards --recipe imagenet-train      # on a machine with CPUs
    loader = recpack_io.flight.Loader(["grpc://127.0.0.1:8815"], batch_size=256)   # in the training

Needs the package pyarrow on both sides.
"""
from recpack_io.flight.loading import Loader
from recpack_io.flight.server import Server

__all__ = ['Loader', 'Server']
