#!/usr/bin/env python3
"""Measures a training step of the ResNet and one of DeepCoNN beside PyTorch's, taking turns in one
run; DeepCoNN's epochs with its operations on one device or on two; the ResNet's step by threads and
binding.

    bash bench/peers/setup.sh vision                            the peer's environment, once
    cmake --preset release -DRECPACK_BUILD_BENCH=ON && cmake --build build/release
    python3 bench/train.py --out bench/results/train.json       about 12 minutes
    python3 bench/train.py --table bench/results/train.json     for docs/guide/performance.md

What cannot be measured is recorded as "unavailable" with the reason.
"""
from harness.program import main
from harness.train_rows import all_rows

if __name__ == '__main__':
    main(__doc__, None, all_rows)
