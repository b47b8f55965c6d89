"""Views and mixtures: which records a loader samples, and audits of that."""
import pickle

import numpy as np
import recpack_io
from recpack_io import Loader, Mixture
from support import CIFAR, InFolder, main, pack


class Views(InFolder):
    def setUp(self):
        super().setUp()
        pack(CIFAR, self.folder / 'shards')
        self.dataset = recpack_io.open(self.folder / 'shards')
        self.labels = np.array([record['label'][0] for record in self.dataset])

    def loader(self, samples, **options):
        return Loader(samples, **{'recipe': 'cifar10-eval', 'batch_size': 4, 'last_batch': 'keep',
                                  'seed': 3} | options)

    def sampled(self, samples, **options):
        """Ordinals of an epoch's samples."""
        return [int(number) for batch in self.loader(samples, **options) for number in batch.ids]

    def assert_refused(self, words, call):
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, words):
            call()


class Selecting(Views):
    def test_a_column_is_one_feature_of_all_records(self):
        np.testing.assert_array_equal(self.dataset.column('label'), self.labels)
        self.assertEqual(self.dataset.column('label').dtype, np.int64)
        images = self.dataset.column('image')
        self.assertEqual(images, [record['image'].tobytes() for record in self.dataset])
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'no feature .boxes.'):
            self.dataset.column('boxes')

    def test_a_column_has_rows_where_records_have_several_values(self):
        with recpack_io.Writer(self.folder / 'rows.tfrecord') as writer:
            for i in range(5):
                writer.write({'box': np.arange(4, dtype=np.float32) + i, 'n': np.arange(i)})
        rows = recpack_io.open(self.folder / 'rows.tfrecord')
        np.testing.assert_array_equal(rows.column('box'), np.arange(4) + np.arange(5)[:, None])
        self.assert_refused('the first record', lambda: rows.column('n'))

    def test_subsets_by_number_and_by_mask(self):
        self.assertEqual(self.dataset.subset([5, 1, 5]).ids.tolist(), [5, 1, 5])
        odd = self.dataset.subset(self.labels % 2 == 1)
        self.assertEqual(odd.ids.tolist(), np.flatnonzero(self.labels % 2).tolist())
        self.assertEqual(odd.subset([2, 0]).ids.tolist(), [odd.ids[2], odd.ids[0]])
        self.assertEqual(sorted(self.sampled(odd)), odd.ids.tolist())
        self.assert_refused('count from 0', lambda: self.dataset.subset([-1]))
        self.assert_refused('float64', lambda: self.dataset.subset([0.5]))
        self.assert_refused('mask has shape', lambda: self.dataset.subset([True]))
        self.assert_refused('no record 1000000', lambda: self.dataset.subset([1000000]))

    def test_filters_by_values_and_by_function(self):
        wanted = np.flatnonzero(np.isin(self.labels, [3, 5])).tolist()
        self.assertEqual(self.dataset.filter(label=[3, 5]).ids.tolist(), wanted)
        self.assertEqual(self.dataset.filter({'label': (5, 3)}).ids.tolist(), wanted)
        by_function = self.dataset.filter(lambda record: record['label'][0] in (3, 5))
        self.assertEqual(by_function.ids.tolist(), wanted)
        self.assertEqual(by_function.filter(label=3).ids.tolist(),
                         np.flatnonzero(self.labels == 3).tolist())
        self.assert_refused('no records', lambda: self.dataset.filter(label=77))
        self.assert_refused('needs a function', self.dataset.filter)
        with self.assertRaises(ZeroDivisionError):
            self.dataset.filter(lambda record: 1 / 0)

    def test_the_label_is_found_by_either_name(self):
        self.assertEqual(self.dataset.filter({'image/class/label': 3}).ids.tolist(),
                         self.dataset.filter(label=3).ids.tolist())

    def test_a_random_split_has_every_record_once_and_is_stable(self):
        train, val, test = self.dataset.random_split(0.6, 0.2, seed=1)
        parts = [part.ids.tolist() for part in (train, val, test)]
        self.assertEqual(sorted(sum(parts, [])), list(range(len(self.dataset))))
        self.assertEqual([part.ids.tolist() for part in self.dataset.random_split(0.6, 0.2, 0.2, seed=1)],
                         parts)
        self.assertNotEqual(self.dataset.random_split(0.6, 0.2, seed=2)[0].ids.tolist(), parts[0])
        some = self.dataset.filter(lambda record: record.id % 2 == 0)
        self.assertEqual([part.ids.tolist() for part in some.split(0.6, seed=1)],
                         [part.ids.tolist() for part in some.random_split(0.6, seed=1)])
        by_label = self.dataset.random_split(0.5, key='label')
        self.assertFalse({*self.labels[by_label[0].ids]} & {*self.labels[by_label[1].ids]})
        for shares in ((), (0.5, 0.6), (0.0, 0.5), (-0.1,)):
            self.assert_refused('shares', lambda shares=shares: self.dataset.random_split(*shares))

    def test_balanced_classes_come_equally_often(self):
        view = self.dataset.filter(label=[0, 1, 2]).balanced(epoch_samples=60)
        classes = np.bincount(self.labels[self.sampled(view)])
        self.assertEqual(classes.tolist(), [20, 20, 20])
        self.assert_refused('balanced view draws', lambda: view.ids)
        self.assert_refused('balanced view cannot be divided', lambda: view.subset([1]))

    def test_weighted_records_come_by_their_shares(self):
        weights = np.where(self.labels == 4, 3.0, 0.0)
        weights[0] = 1.0
        view = self.dataset.weighted(weights, epoch_samples=1000)
        counts = np.bincount(self.sampled(view, batch_size=50), minlength=len(self.dataset))
        self.assertEqual(counts.sum(), 1000)
        self.assertLess(np.abs(counts - weights / weights.sum() * 1000).max(), 2)
        self.assertFalse(counts[weights == 0].any())
        self.assert_refused('weights for', lambda: self.dataset.weighted([1.0]))
        self.assert_refused('shape', lambda: self.dataset.weighted([[1.0]]))

    def test_arguments_of_the_loader_select_as_the_methods_do(self):
        by_method = self.dataset.subset(range(60)).filter(label=[1, 2, 3]).balanced()
        by_argument = dict(subset=range(60), filter={'label': [1, 2, 3]}, balanced='label')
        self.assertEqual(self.sampled(self.dataset, **by_argument), self.sampled(by_method))
        weights = self.labels + 1.0
        self.assertEqual(self.sampled(self.dataset, weights=weights),
                         self.sampled(self.dataset.weighted(weights)))
        train, rest = self.dataset.filter(label=[1, 2, 3]).random_split(0.7, seed=5)
        for part, begin, end in (train, 0, 0.7), (rest, 0.7, 1):
            loader = self.loader(self.dataset, filter={'label': [1, 2, 3]}, hash_range=(begin, end, 5))
            self.assertEqual(loader.dataset.ids.tolist(), part.ids.tolist())
        by_key = self.loader(self.dataset, hash_range=(0, 0.5, 0, 'label')).dataset
        self.assertEqual(by_key.ids.tolist(), self.dataset.random_split(0.5, key='label')[0].ids.tolist())
        for wrong in (0.5,), (0.5, 0.5), (0, 2), (0, 1, 0, 'label', 1):
            self.assert_refused('hash_range', lambda given=wrong: self.loader(self.dataset, hash_range=given))
        self.assert_refused('not both', lambda: self.loader(self.dataset, weights=weights,
                                                            balanced='label'))

    def test_views_are_lists_of_records(self):
        view = self.dataset.filter(label=3)
        self.assertEqual([record.id for record in view], view.ids.tolist())
        self.assertEqual(view[-1].id, view.ids[-1])
        self.assertEqual([record.id for record in view[1:3]], view.ids[1:3].tolist())
        self.assertEqual([record.id for record in view[[1, 0]]], view.ids[[1, 0]].tolist())
        self.assertIn('View of', repr(view))
        self.assertIn(f'{len(view):,} samples', repr(view))
        with self.assertRaises(IndexError):
            view[len(view)]

    def test_views_are_pickled(self):
        some = self.dataset.subset([4, 2, 9, 7])
        for view in (recpack_io.View(self.dataset), some, some.balanced(), some.weighted([1, 2, 3, 4])):
            again = pickle.loads(pickle.dumps(view))
            self.assertEqual(again.digest, view.digest)
            self.assertEqual(self.sampled(again), self.sampled(view))
        mixture = Mixture([(some, 1), (self.dataset, 3)])
        self.assertEqual(pickle.loads(pickle.dumps(mixture)).digest, mixture.digest)

    def test_a_corrupt_record_is_left_out_on_request(self):
        shard = next((self.folder / 'shards').glob('train-*-of-*'))
        data = bytearray(shard.read_bytes())
        data[len(data) // 2] ^= 1
        shard.write_bytes(data)
        dataset = recpack_io.open(self.folder / 'shards')
        for keep in ({'label': range(10)}, lambda record: 'label' in record):
            with self.assertRaises(recpack_io.CorruptError):
                dataset.filter(keep)
            self.assertEqual(len(dataset.filter(keep, leave_out_corrupt=True)), len(dataset) - 1)


class Mixing(Views):
    def test_shares_are_exact_in_each_period(self):
        few, many = self.dataset.subset(range(10)), self.dataset.subset(range(10, 64))
        mixture = Mixture([(many, 3), (few, 1)], period=8, epoch_samples=40)
        self.assertEqual((len(mixture), mixture.counts, mixture.period), (40, [6, 2], 8))
        batches = [(batch.sources.tolist(), batch.ids.tolist())
                   for batch in self.loader(mixture, batch_size=8)]
        for sources, ids in batches:
            self.assertEqual(np.bincount(sources).tolist(), [6, 2])
            self.assertEqual([number < 10 for number in ids], [source == 1 for source in sources])

    def test_each_source_may_have_a_recipe(self):
        mixture = Mixture([(self.dataset, 1, 'cifar10-eval'),
                       (self.dataset, 1, recpack_io.recipe('cifar10-eval', mean=(0.5, 0.5, 0.5)))])
        of_all = {mean: self.loader(Mixture([(self.dataset, 1), (self.dataset, 1)]), recipe=None,
                                    fields=recpack_io.recipe('cifar10-eval', **mean_argument))
                  for mean, mean_argument in ((0, {}), (1, {'mean': (0.5, 0.5, 0.5)}))}
        for batch, plain, darker in zip(self.loader(mixture, recipe=None), of_all[0], of_all[1]):
            expected = np.where((batch.sources == 1)[:, None, None, None], darker['image'], plain['image'])
            np.testing.assert_array_equal(batch['image'], expected)
        with self.assertRaisesRegex(TypeError, 'give the loader none'):
            self.loader(mixture)
        self.assert_refused('others none', lambda: Mixture([(self.dataset, 1, 'cifar10-eval'), (self.dataset, 1)]))
        self.assert_refused('where those of view 0', lambda: self.loader(
            Mixture([(self.dataset, 1, 'cifar10-eval'), (self.dataset, 1, recpack_io.recipe('cifar10-eval', type='u8'))]),
            recipe=None))

    def test_wrong_sources_are_refused(self):
        self.assert_refused(r'\(data set, weight\)', lambda: Mixture([self.dataset]))
        self.assert_refused('above 0', lambda: Mixture([(self.dataset, 0)]))
        self.assert_refused('mixture cannot be selected', lambda: self.loader(
            Mixture([(self.dataset, 1)]), subset=[1]))

    def test_a_state_of_other_samples_is_refused(self):
        loader = self.loader(self.dataset.subset(range(50)))
        next(iter(loader))
        state = loader.state_dict()
        self.assert_refused('other records', lambda: self.loader(
            self.dataset.subset(range(51))).load_state_dict(state))


class Audits(Views):
    def test_an_epoch_is_complete(self):
        loader = self.loader(self.dataset, audit_counts=True)
        for _ in loader:
            pass
        report = loader.audit().check(self.dataset)
        self.assertTrue(report.complete)
        self.assertEqual((report.samples, report.differing, report.counted), (len(self.dataset), 0, True))

    def test_ranks_are_merged(self):
        audits = []
        for rank in range(3):
            loader = self.loader(self.dataset, rank=rank, world_size=3)
            for _ in loader:
                pass
            audits.append(loader.audit())
        self.assertFalse(audits[0].check(self.dataset).holds)
        audits[0].merge(audits[1])
        audits[0].merge(audits[2])
        self.assertTrue(audits[0].check(self.dataset).complete)
        self.assert_refused('belongs to', lambda: audits[0].check(self.dataset.subset([1, 2])))

    def test_it_goes_on_with_a_state(self):
        whole = self.loader(self.dataset)
        for _ in whole:
            pass
        loader = self.loader(self.dataset)
        batches = iter(loader)
        next(batches)
        state = loader.state_dict()
        again = self.loader(self.dataset)
        again.load_state_dict(state)
        for _ in again:
            pass
        self.assertEqual(again.audit(), whole.audit())
        del state['audit']  # a state of an earlier version
        again.load_state_dict(state)

    def test_files_and_lines_hold_it(self):
        loader = self.loader(self.dataset, audit_counts=True)
        next(iter(loader))
        audit = loader.audit()
        audit.save(self.folder / 'audit')
        self.assertEqual(recpack_io.Audit.load(self.folder / 'audit'), audit)
        line = recpack_io.Audit.parse(str(audit))
        self.assertEqual((line.samples, line.has_counts, audit.has_counts), (4, False, True))
        self.assertEqual(str(pickle.loads(pickle.dumps(audit))), str(audit))
        self.assert_refused('', lambda: recpack_io.Audit.parse('no audit'))

    def test_substitutions_are_listed(self):
        shard = next((self.folder / 'shards').glob('train-*-of-*'))
        data = bytearray(shard.read_bytes())
        data[len(data) // 2] ^= 1
        shard.write_bytes(data)
        dataset = recpack_io.open(self.folder / 'shards')
        loader = self.loader(dataset, on_bad_record='substitute', max_bad_share=0.5)
        for _ in loader:
            pass
        one, = loader.substitutions()
        self.assertEqual((one.epoch, one.source, one.path), (0, 0, str(shard)))
        self.assertNotEqual(one.bad, one.taken)
        report = loader.audit().check(dataset)
        self.assertEqual((report.substituted, report.complete), (1, True))


if __name__ == '__main__':
    main()
