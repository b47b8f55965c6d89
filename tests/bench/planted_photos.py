"""A data set of photos for the trainer in which things are planted."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TRAINER = os.environ['PLANTED_TRAINER']


class WithPlantedPhotos(unittest.TestCase):
    """`data`: the packed photos, for all tests of a class; `folder`: theirs, gone after the last."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix='recpack-planted-'))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.data = cls.folder / 'shards'
        photos = cls.folder / 'photos'
        subprocess.run([TRAINER, photos, '--photos', '40'], check=True)
        subprocess.run([os.environ['RECPACK'], 'pack', photos, cls.data, '--no-sync'], check=True,
                       stdout=subprocess.DEVNULL)
