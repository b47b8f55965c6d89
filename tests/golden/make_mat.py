"""Writes meta.mat and meta-plain.mat into the folder given.

They have the layout of meta.mat in the development kit of ILSVRC 2012: a structure array `synsets`,
here of four classes, whose ids are in another order than their names, and of one synset with
children. Needs SciPy.
"""

import sys

import numpy
import scipy.io

FIELDS = ["ILSVRC2012_ID", "WNID", "words", "gloss", "num_children", "children", "wordnet_height",
          "num_train_images"]

rows = []
for i, wnid in enumerate(["n02000003", "n02000001", "n02000002", "n01000009"]):
    number = numpy.uint8(i + 1) if i < 2 else float(i + 1)
    rows.append((number, wnid, f"word {i}, other", "a gloss \u00e9", 0, numpy.zeros((0, 0)), 0, 1300))
rows.append((1001.0, "n00001740", "entity", "that which is", 2, numpy.array([[1.0, 2.0]]), 19, 0))
synsets = numpy.array(rows, dtype=[(name, "O") for name in FIELDS]).reshape(-1, 1)
for name, compress in (("meta.mat", True), ("meta-plain.mat", False)):
    scipy.io.savemat(f"{sys.argv[1]}/{name}", {"synsets": synsets, "other": numpy.arange(4)},
                     do_compression=compress)
