#!/usr/bin/env python3
"""Measures recpack beside its peers and this machine's limits, all taking turns in one run.

    bash bench/peers/setup.sh                                   the peers' environments, once
    cmake --preset release -DRECPACK_BUILD_BENCH=ON && cmake --build build/release
    python3 bench/records.py --data DIR --out bench/results/records.json      about 12 minutes
    python3 bench/records.py --data DIR --quick                               about 3 minutes
    python3 bench/records.py --table bench/results/records.json         for docs/guide/performance.md

DIR holds cifar-10-batches-py/ (the official pickles), cifar10-jpeg/SPLIT/CLASS/*.jpg (the same
60,000 images as files) and, for records of 100 KB, imagenet-sample/CLASS/*.JPEG. What is made
from them goes to --work, about 4 GB. What cannot be measured is recorded as "unavailable" with
the reason.
"""
from harness.records_prepare import prepare
from harness.program import main
from harness.records_rows import all_rows

if __name__ == '__main__':
    main(__doc__, prepare, all_rows)
