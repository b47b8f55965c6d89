#!/usr/bin/env python3
"""Measures the Python package beside its peers, the C++ loader and bare reads, taking turns in one run.

    bash bench/peers/setup.sh tf dali vision py ffcv            the peers' environments, once
    cmake --preset release -DRECPACK_BUILD_BENCH=ON && cmake --build build/release
    bash tests/python/environments.sh                           the wheel, in build/python/bare
    python3 bench/python.py --data DIR --out bench/results/python.json        about 8 minutes
    python3 bench/python.py --data DIR --quick                                about 3 minutes
    python3 bench/python.py --table bench/results/python.json           for docs/guide/performance.md

DIR as for bench/loader.py.
"""
from harness.program import main
from harness.python_rows import all_rows, prepare

if __name__ == '__main__':
    main(__doc__, prepare, all_rows)
