"""Migration of PyTorch programs: reads a script, and writes the change that makes it use recpack.

    python -m recpack_io.migrate train.py      or: recpack migrate train.py

Nothing of the script is run.
"""
from recpack_io.migrate.migration import Migration
from recpack_io.migrate.rewrite import migrate

__all__ = ['Migration', 'migrate']
