"""Functions for the tests of function fields; worker processes import it, too."""
import subprocess
import sys

import numpy as np
import recpack_io
from recpack_io import Function, Loader
from support import CIFAR, InFolder, pack

HEAD = '''
import sys, recpack_io
dataset = recpack_io.open(sys.argv[1])
'''


def odd(sample):
    raise ValueError(f'record {sample.id} is odd')


class Draw:
    def __init__(self, name):
        self.name = name

    def __call__(self, sample):
        return {self.name: sample.rng.random(3, np.float32)}


def drawing(name='draw', **options):
    return Function(Draw(name), {name: ('float32', 3)}, **options)


class Calls(InFolder):
    """Calls on a small data set: `image`, of 3 x 32 x 32 bytes, and `label`."""

    def setUp(self):
        super().setUp()
        pack(CIFAR, self.folder / 'shards')
        self.dataset = recpack_io.open(self.folder / 'shards')

    def loader(self, *functions, **options):
        fields = [*recpack_io.recipe('cifar10-eval'), *functions]
        return Loader(self.dataset, fields=fields, **{'batch_size': 8, 'seed': 3} | options)

    def script(self, text, *arguments):
        """The module is run from a file, as processes that are spawned ask for it."""
        path = self.folder / 'script.py'
        path.write_text(HEAD + text)
        command = [sys.executable, str(path), str(self.folder / 'shards'), *map(str, arguments)]
        return subprocess.run(command, text=True, capture_output=True, timeout=120, check=False)
