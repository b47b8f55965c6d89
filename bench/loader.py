#!/usr/bin/env python3
"""Measures the loader beside its peers and bare loops of the same work, taking turns in one run.

    bash bench/peers/setup.sh                                   the peers' environments, once
    cmake --preset release -DRECPACK_BUILD_BENCH=ON && cmake --build build/release
    python3 bench/loader.py --data DIR --out bench/results/loader.json        about 20 minutes
    python3 bench/loader.py --data DIR --quick                                about 5 minutes
    python3 bench/loader.py --table bench/results/loader.json           for docs/guide/performance.md

DIR holds cifar-10-batches-py/ (the official pickles) and imagenet-sample/CLASS/*.JPEG (real
photos, of which 2 GB of distinct crops are made). What is made from them goes to --work, about
12 GB. What cannot be measured is recorded as "unavailable" with the reason.
"""
from harness.loader_prepare import prepare
from harness.loader_rows import all_rows
from harness.program import main

if __name__ == '__main__':
    main(__doc__, prepare, all_rows)
