"""recpack_io.torchtitan: batches as torchtitan's trainer takes them, and states for other numbers of ranks."""
import itertools

import numpy as np
import recpack_io
import torch
import torch.distributed.checkpoint as dcp
from recpack_io.torchtitan import DataLoader
from support import InFolder, main
from torchtitan.components.dataloader import BaseDataLoader

LENGTH, RECORDS = 8, 24


def built(path, rank=0, ranks=1, size=2, **config):
    """As torchtitan's Trainer builds it."""
    return DataLoader.Config(dataset_path=str(path), seed=3, **config).build(
        dp_world_size=ranks, dp_rank=rank, tokenizer=None, seq_len=LENGTH, local_batch_size=size,
        snapshot_every_n_steps=None)


def first_tokens(batches):
    """Each sample's first token, by which it is known."""
    return [int(token) for inputs, _ in batches for token in inputs['input'][:, 0]]


class TorchTitan(InFolder):
    def setUp(self):
        super().setUp()
        rows = (np.arange(100 * i, 100 * i + LENGTH + 1) for i in range(RECORDS))
        recpack_io.pack(({'tokens': row} for row in rows), self.folder / 'texts')

    def test_inputs_and_labels(self):
        loader = built(self.folder / 'texts')
        self.assertIsInstance(loader, BaseDataLoader)
        inputs, labels = next(iter(loader))
        self.assertEqual(list(inputs), ['input'])
        self.assertEqual((inputs['input'].shape, inputs['input'].dtype), ((2, LENGTH), torch.int64))
        self.assertTrue(torch.equal(inputs['input'] + 1, labels))

    def test_ranks_share_an_epoch(self):
        ranks = [built(self.folder / 'texts', rank, 3, infinite=False) for rank in range(3)]
        tokens = [first_tokens(loader) for loader in ranks]
        self.assertEqual([len(each) for each in tokens], [8, 8, 8])
        self.assertEqual(sorted(sum(tokens, [])), [100 * i for i in range(RECORDS)])

    def test_epochs_differ(self):
        both = first_tokens(itertools.islice(built(self.folder / 'texts'), RECORDS))
        one, two = both[:RECORDS], both[RECORDS:]
        self.assertEqual(sorted(one), sorted(two))
        self.assertNotEqual(one, two)

    def test_a_checkpoint_goes_on_with_other_ranks(self):
        whole = first_tokens(built(self.folder / 'texts', size=4, infinite=False))
        two = [built(self.folder / 'texts', rank, 2) for rank in range(2)]
        given = [first_tokens(itertools.islice(loader, 3)) for loader in two]
        self.assertEqual(two[0].state_dict(), two[1].state_dict())
        dcp.save({'dataloader': two[0]}, checkpoint_id=self.folder / 'checkpoint', no_dist=True)
        alone = built(self.folder / 'texts', size=4, infinite=False)
        dcp.load({'dataloader': alone}, checkpoint_id=self.folder / 'checkpoint', no_dist=True)
        rest = first_tokens(alone)
        self.assertEqual(sorted(sum(given, [])), sorted(whole[:12]))
        self.assertEqual(rest, whole[12:])

    def test_an_empty_state_begins_anew(self):
        loader = built(self.folder / 'texts')
        loader.load_state_dict({})
        self.assertEqual(first_tokens(itertools.islice(loader, 2)),
                         first_tokens(itertools.islice(built(self.folder / 'texts'), 2)))

    def test_faults(self):
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'dataset_path is missing'):
            built('')
        recpack_io.pack([{'tokens': np.arange(5)}] * 4, self.folder / 'short')
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, r'record \d has 5 tokens, fewer than seq_len \+ 1 = 9'):
            next(iter(built(self.folder / 'short')))
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'more than the 24 records of an epoch'):
            built(self.folder / 'texts', size=100)


if __name__ == '__main__':
    main()
