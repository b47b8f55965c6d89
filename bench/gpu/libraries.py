"""Folders with the libraries of CUDA that Python packages brought, separated by colons."""
import glob
import os
import sys

NAMES = ('libcudnn.so.9', 'libcublas.so.13', 'libnccl.so.2', 'libcupti.so.13')
print(':'.join(sorted({os.path.dirname(path) for root in sys.path for name in NAMES for path in
                       glob.glob(os.path.join(root, 'nvidia', '**', name), recursive=True)})))
