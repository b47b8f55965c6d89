#!/usr/bin/env python
"""Writes tests/golden/pickle: small CIFAR batches in every pickle protocol.

    python make_pickles.py PREFIX    (needs numpy; Python 2.7 and 3)

The committed files were written with PREFIX
    py27    by Python 2.7.18 with NumPy 1.16.6 (its cPickle),
    np1     by Python 3.11.7 with NumPy 1.26.4,
    np2     by Python 3.12.1 with NumPy 2.2.6; this one also writes the variants,
    orders  by Python 3.11.7 with NumPy 2.4.6, which knows of an order "K": images in other orders.

Every batch has 2 rows: pixel j of row i is (31 i + 7 j) mod 256; labels are 6 and 9.
"""
import collections
import os
import sys

import numpy as np

try:
    import cPickle as pickle
except ImportError:
    import pickle

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pickle")


def pixels():
    i, j = np.arange(2)[:, None], np.arange(3072)[None, :]
    return ((31 * i + 7 * j) % 256).astype(np.uint8)


def batch(data=None, labels=None):
    return {
        "batch_label": "training batch 1 of 5",
        "labels": [6, 9] if labels is None else labels,
        "data": pixels() if data is None else data,
        "filenames": ["a_s_000001.png", "b_s_000002.png"],
    }


def write(name, value, protocol):
    with open(os.path.join(OUT, name + ".pickle"), "wb") as f:
        pickle.dump(value, f, protocol)


class Command(object):
    """A pickle that runs a command when Python reads it."""

    def __reduce__(self):
        return os.system, ("touch pickle-was-executed",)


class FortranRow(object):
    """One row in Fortran order, which is C order, too: NumPy itself calls it that."""

    def __reduce__(self):
        state = (1, (1, 3072), np.dtype(np.uint8), True, pixels()[:1].tobytes())
        return pixels().__reduce__()[:2] + (state,)


def write_orders():
    pictures = pixels().reshape(2, 3, 32, 32)
    write("data_fortran_one", batch(data=np.asfortranarray(pictures[:1]), labels=[6]), 4)
    write("data_swapped_5", batch(data=pictures.swapaxes(2, 3)), 5)
    write("data_row_fortran", batch(data=FortranRow(), labels=[6]), 4)


def write_variants():
    write("labels_int64", batch(labels=np.array([6, 9])), 4)
    write("labels_big_endian", batch(labels=np.array([6, 9], ">i4")), 2)
    write("labels_uint8", batch(labels=np.array([6, 9], np.uint8)), 5)
    write("labels_scalars", batch(labels=[np.int64(6), np.uint8(9)]), 3)
    write("labels_floats", batch(labels=[6.0, 9.0]), 4)
    write("labels_three", batch(labels=[6, 9, 1]), 4)
    write("labels_negative", batch(labels=[6, -9]), 4)
    write("labels_ten", batch(labels=[6, 10]), 4)
    write("data_fortran", batch(data=np.asfortranarray(pixels())), 4)
    write("data_fortran_5", batch(data=np.asfortranarray(pixels())), 5)
    write("data_float", batch(data=pixels()[:, :16].astype(np.float32)), 4)
    write("data_4d", batch(data=pixels().reshape(2, 3, 32, 32)), 5)
    write("data_channels_last", batch(data=pixels().reshape(2, 32, 32, 3)), 4)
    write("data_list", batch(data=[[1, 2, 3]]), 4)
    write("no_data", {"labels": [6, 9]}, 4)
    write("ordered", collections.OrderedDict(batch()), 4)
    write("scalars", {"none": None, "true": True, "false": False, "big": 2**40, "small": -2**40,
                      "minus": -1, "float": 1.5, "bytes": b"", "array": bytearray(b"ab"),
                      "text": u"\u00e4\u20ac\U0001f600", "tuple": (1, 2, 3, 4)}, 2)
    write("scalars_0", {"none": None, "true": True, "false": False, "big": 2**40, "small": -2**40,
                        "minus": -1, "float": 1.5, "bytes": b"", "array": bytearray(b"ab"),
                        "text": u"\u00e4\u20ac\U0001f600", "tuple": (1, 2, 3, 4)}, 0)
    write("cifar100", {"fine_labels": [99, 3], "coarse_labels": [19, 4], "data": pixels(),
                       "filenames": ["a.png", "b.png"], "batch_label": "testing batch 1 of 1"}, 2)
    write("command", batch(data=Command()), 4)
    write("command_0", batch(data=Command()), 0)


def main(prefix):
    if not os.path.isdir(OUT):
        os.makedirs(OUT)
    if prefix == "orders":
        return write_orders()
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        write("%s_protocol%d" % (prefix, protocol), batch(), protocol)
    if prefix == "np2":
        write_variants()


if __name__ == "__main__":
    main(sys.argv[1])
