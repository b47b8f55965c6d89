"""Shared parts of the tests of loaders whose batches are made elsewhere: they are those of the local loader."""
import tempfile

import numpy as np
import recpack_io
from support import CIFAR


def seen(batch):
    """All that a batch says, to be compared."""
    return ({name: (array.dtype, array.shape, array.tobytes()) for name, array in batch.items()}, batch.ids.tolist(),
            batch.mask.tolist(), batch.sources.tolist(), batch.epoch, batch.number, batch.token)


def halved(batch):
    """A batch function."""
    batch['image'] *= np.float16(0.5)


class FedLoaders:
    """For a TestCase: a data set, and what is to be the same. both() gives the local loader and the one that is tested."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.holder = tempfile.TemporaryDirectory(prefix='recpack-fed-')
        cls.shards = f'{cls.holder.name}/shards'
        recpack_io.pack(CIFAR, cls.shards, sync=False)
        cls.dataset = recpack_io.open(cls.shards)  # 64 records

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()
        super().tearDownClass()

    def assert_same_epoch(self, local, fed):
        self.assertEqual(len(fed), len(local))
        ours = iter(fed)
        for batch in local:
            self.assertEqual(seen(next(ours)), seen(batch))
            self.assertEqual(fed.state_dict(), local.state_dict())
        self.assertIsNone(next(ours, None))
        self.assertEqual(fed.state_dict(), local.state_dict())

    def assert_same_batches(self):
        for last_batch in ('drop', 'keep', 'pad'):
            with self.subTest(last_batch):
                local, ours = self.both('cifar10-train', batch_size=9, seed=3, last_batch=last_batch)
                self.assertEqual(ours.arrays, local.arrays)
                for _ in range(2):
                    self.assert_same_epoch(local, ours)
                ours.close()
