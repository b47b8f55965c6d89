"""Environments of launchers, for tests of launched processes."""
import os
import random
import socket

LAUNCHERS = ('RANK', 'WORLD_SIZE', 'LOCAL_', 'MASTER_', 'TORCHELASTIC', 'OMPI_', 'PMI', 'SLURM_')


def clean_environment(**more):
    """That of this process without a launcher's variables, and with `more`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHERS)}
    return {**kept, **{k: str(v) for k, v in more.items()}}


def free_port():
    """One that is free, outside of the range that the kernel gives to clients, and of that of
    tests/train/collectives/free_port.h."""
    while True:
        port = random.randrange(20000, 30000)
        with socket.socket() as one:
            try:
                one.bind(('127.0.0.1', port))
                return port
            except OSError:
                pass
