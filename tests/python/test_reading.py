"""recpack_io.open(): records by number."""
import multiprocessing
import os
import pickle
import shutil
import tarfile
import threading
import warnings

import numpy as np
import recpack_io
from support import CIFAR, GOLDEN, InFolder, golden_rows, main, pack


def first_label(dataset):
    return int(dataset[0]['label'][0])


class Reading(InFolder):
    def setUp(self):
        super().setUp()
        pack(CIFAR, self.folder / 'shards')
        self.dataset = recpack_io.open(self.folder / 'shards')
        self.rows = golden_rows('train')

    def holds(self, record, row):
        self.assertEqual((record['image'].tobytes(), record['label'].tolist()), (row[0], [row[1]]))

    def test_records_are_those_that_were_packed(self):
        self.assertEqual(len(self.dataset), len(self.rows))
        for number, row in enumerate(self.rows):
            self.holds(self.dataset[number], row)
        for record, row in zip(self.dataset, self.rows, strict=True):
            self.holds(record, row)
        self.holds(self.dataset[-1], self.rows[-1])

    def test_several_at_once(self):
        for got, wanted in ((self.dataset[2:9:3], range(2, 9, 3)), (self.dataset[[5, -1, 5]], (5, -1, 5)),
                            (self.dataset[np.array([3, 1])], (3, 1)), (self.dataset[4:4], ())):
            self.assertEqual(len(got), len(wanted))
            for record, number in zip(got, wanted):
                self.holds(record, self.rows[number])

    def test_names_that_leave_the_split_open_are_warned_of_once(self):
        shard = next((self.folder / 'shards').glob('train-*.tfrecord'))
        for folder, names in (('open', ('a', 'b', 'c')), ('clear', ('train', 'validation'))):
            (self.folder / folder).mkdir()
            for name in names:
                shutil.copy(shard, self.folder / folder / f'{name}.tfrecord')
        with self.assertWarnsRegex(recpack_io.DatasetWarning, "none of the 3 .* the split 'all'") as seen:
            dataset = recpack_io.open(self.folder / 'open')
        self.assertEqual(seen.filename, __file__)
        self.assertEqual(len(seen.warnings), 1)
        self.assertIn(str(seen.warning), dataset.notices())
        with self.assertWarns(recpack_io.DatasetWarning) as seen:
            recpack_io.Loader(self.folder / 'open', 'cifar10-eval', batch_size=8)
        self.assertEqual(seen.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            recpack_io.open(self.folder / 'clear')
            recpack_io.open(self.folder / 'shards')

    def test_views_keep_the_record(self):
        image = self.dataset[3]['image']
        for number in range(100):
            self.dataset[number % len(self.dataset)]
        self.assertEqual(image.tobytes(), self.rows[3][0])
        self.assertFalse(image.flags.owndata)
        self.assertFalse(image.flags.writeable)

    def test_a_record_is_a_mapping(self):
        record = self.dataset[7]
        self.assertEqual(list(record), ['image', 'label'])
        self.assertEqual((len(record), 'label' in record, 'nothing' in record, record.id),
                         (2, True, False, 7))
        self.assertEqual(set(record.to_dict()), {'image', 'label'})
        self.assertEqual(repr(record), '<recpack_io.Record 7: image bytes[3072], label int64[1]>')
        with self.assertRaises(KeyError):
            record['nothing']

    def test_schema(self):
        image = self.dataset.schema['image']
        self.assertEqual((image.kind, image.min_bytes, image.max_bytes), ('bytes', 3072, 3072))
        self.assertEqual(self.dataset.schema['label'].kind, 'int64')
        self.assertEqual(len(self.dataset.class_names), 10)

    def test_beyond_the_end(self):
        for number in len(self.dataset), -len(self.dataset) - 1:
            with self.assertRaisesRegex(IndexError, f'no record {number} of {len(self.dataset)}'):
                self.dataset[number]

    def test_what_is_not_there(self):
        with self.assertRaises(recpack_io.NotFoundError) as caught:
            recpack_io.open(self.folder / 'nothing')
        self.assertEqual(caught.exception.path, str(self.folder / 'nothing'))
        self.assertIsInstance(caught.exception, FileNotFoundError)

    def test_damage_says_where(self):
        shard = next((self.folder / 'shards').glob('train-*'))
        place = recpack_io.open(self.folder / 'shards').place_of(2)
        data = bytearray(shard.read_bytes())
        data[place[1] + 20] ^= 1
        shard.write_bytes(data)
        with self.assertRaises(recpack_io.CorruptError) as caught:
            recpack_io.open(self.folder / 'shards')[2]
        error = caught.exception
        self.assertEqual((error.path, error.offset, error.ordinal), (str(shard), place[1], 2))
        self.assertIn('CRC', str(error))
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(again), str(again), again.ordinal), (type(error), str(error), 2))
        recpack_io.open(self.folder / 'shards', verify=False)[2]

    def test_names_that_are_no_utf8(self):
        """As of archives that were made long ago; in Python they are what os.listdir() gives."""
        photos = os.path.join(os.fsencode(self.folder), b'photos')
        for name, data in ((b'caf\xe9', b'\xff\xd8\xff no picture'),
                           (b'tea', (GOLDEN / 'image' / 'orientation1.jpg').read_bytes())):
            os.makedirs(os.path.join(photos, name))
            with open(os.path.join(photos, name, b'\xe9t\xe9.jpg'), 'wb') as file:
                file.write(data)
        dataset = recpack_io.open(os.fsdecode(photos))
        self.assertEqual(list(map(os.fsencode, dataset.class_names)), [b'caf\xe9', b'tea'])
        for number, name in enumerate(sorted(os.listdir(photos))):
            self.assertEqual(os.fsencode(dataset.place_of(number)[0]),
                             os.path.join(photos, name, b'\xe9t\xe9.jpg'))
        self.assertEqual(dataset[1]['image/class/label'].tolist(), [1])
        with self.assertRaises(recpack_io.CorruptError) as caught:
            dataset[0]
        self.assertEqual(caught.exception.path, dataset.place_of(0)[0])
        self.assertIn('caf\\xe9/\\xe9t\\xe9.jpg', str(caught.exception))

    def test_a_path_that_is_no_utf8(self):
        path = os.fsdecode(os.path.join(os.fsencode(self.folder), b'\xe9'))
        shutil.copytree(self.folder / 'shards', path)
        dataset = recpack_io.open(path)
        self.assertEqual((dataset.path, len(dataset)), (path, len(self.dataset)))
        self.assertEqual(pickle.loads(pickle.dumps(dataset)).path, path)
        with self.assertRaises(recpack_io.NotFoundError) as caught:
            recpack_io.open(path + '/nothing')
        self.assertEqual(caught.exception.path, path + '/nothing')

    def test_a_program_that_changes_its_folder(self):
        """Shards and files are opened when they are read."""
        self.addCleanup(os.chdir, os.getcwd())
        for name in 'coffee', 'tea':
            (self.folder / 'photos' / name).mkdir(parents=True)
            shutil.copy(GOLDEN / 'image' / 'orientation1.jpg', self.folder / 'photos' / name)
        for path in 'shards', 'shards/train-*', ['shards'], './photos':
            os.chdir(self.folder)
            expected = dict(recpack_io.open(path)[0])
            dataset = recpack_io.open(path)
            os.chdir('/')
            for opened in dataset, pickle.loads(pickle.dumps(dataset)):
                np.testing.assert_equal(dict(opened[0]), expected)
                self.assertTrue(os.path.exists(opened.place_of(0)[0]))

    def test_a_folder_whose_name_looks_like_a_pattern(self):
        self.addCleanup(os.chdir, os.getcwd())
        odd = self.folder / '{1..2}[a]*'
        shutil.copytree(self.folder / 'shards', odd / 'shards')
        os.chdir(odd)
        for path in 'shards', 'shards/train-*':
            self.assertEqual(len(recpack_io.open(path)), len(self.rows), path)

    def test_a_tar_is_read_once(self):
        tar = self.folder / 'x.tar'
        with tarfile.open(tar, 'w') as archive:
            archive.add(GOLDEN / 'image' / 'orientation1.jpg', 'a.jpg')
        self.assertEqual(len(recpack_io.open(self.folder / '{x*,*}.tar')), 1)
        for again in tar, os.path.relpath(tar), self.folder / '*.tar':
            with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'x.tar: is listed twice'):
                recpack_io.open([tar, again])

    def test_pickled_for_spawned_and_forked_workers(self):
        self.assertEqual(pickle.loads(pickle.dumps(self.dataset)).digest, self.dataset.digest)
        first_label(self.dataset)  # readers are there when the process forks
        for method in 'spawn', 'fork':
            with multiprocessing.get_context(method).Pool(2) as pool:
                self.assertEqual(pool.map(first_label, [self.dataset] * 4),
                                 [self.rows[0][1]] * 4, method)

    def test_many_threads(self):
        wrong = []

        def read(seed):
            for number in np.random.default_rng(seed).integers(0, len(self.rows), 500):
                if self.dataset[int(number)]['image'].tobytes() != self.rows[number][0]:
                    wrong.append(number)

        threads = [threading.Thread(target=read, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_fields_under_other_names(self):
        renamed = recpack_io.open(self.folder / 'shards', fields={'image/class/label': 'label'})
        self.assertEqual(renamed[0]['image/class/label'].tolist(), [self.rows[0][1]])


if __name__ == '__main__':
    main()
