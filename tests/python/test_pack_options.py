"""recpack_io.pack() of paths: each option does what the program's does, and errors name arguments."""
import shutil

import recpack_io
from support import CIFAR, GOLDEN, main, pack, recpack, recpack_json
from test_packing import Packing, contents, rows


class Options(Packing):
    def setUp(self):
        super().setUp()
        self.program = self.folder / 'program'

    def same(self, source, options, *flags):
        """Both make the same files, of different ones than without options."""
        shutil.rmtree(self.out, ignore_errors=True)
        shutil.rmtree(self.program, ignore_errors=True)
        result = self.pack(source, **options)
        pack(source, self.program, *flags)
        self.assertEqual(contents(self.out), contents(self.program))
        return result

    def pictures(self):
        """Class folders."""
        for kind in 'train', 'other':
            (self.folder / 'pictures' / kind).mkdir(parents=True, exist_ok=True)
            for name in 'gray.png', 'progressive.jpg', 'real_420.jpg':
                shutil.copy(GOLDEN / 'image' / name, self.folder / 'pictures' / kind)
        return self.folder / 'pictures'

    def test_splits_and_shards(self):
        self.same(CIFAR, {'splits': ['train', 'test'], 'shards': 3}, '--splits', 'train,test', '--shards', 3)
        self.same(CIFAR, {'splits': 'train,test'}, '--splits', 'train,test')

    def test_layout(self):
        self.same(self.pictures(), {'layout': 'classes'}, '--layout', 'classes')

    def test_pictures(self):
        self.same(self.pictures(), {'layout': 'classes', 'jpeg': 'tile', 'check_images': True},
                  '--layout', 'classes', '--jpeg', 'tile', '--check-images')
        self.same(self.pictures(), {'layout': 'classes', 'resize': 16, 'quality': 50},
                  '--layout', 'classes', '--resize', 16, '--quality', 50)

    def test_records_to_keep(self):
        first = self.folder / 'first'
        recpack_io.pack(rows(30), first, sync=False)
        result = self.same(first, {'kind': 'tfrecord', 'filters': ['label!=0'], 'fields':
                                   {'label': 'label', 'number': 'number'}, 'label_offset': 1},
                           '--from', 'tfrecord', '--filter', 'label!=0', '--field',
                           'label=label,number=number', '--label-offset', 1)
        self.assertEqual(result.records, 20)
        records = list(recpack_io.open(self.out))
        self.assertEqual(records[0].keys(), ['image/class/label', 'number'])
        self.assertEqual({int(record['image/class/label'][0]) for record in records}, {0, 1})

    def test_columns(self):
        (self.folder / 'list.csv').write_text('path,zip\nlist.csv,01\nlist.csv,02\n')
        self.same(self.folder / 'list.csv', {'columns': {'zip': 'bytes'}}, '--column', 'zip=bytes')
        self.assertEqual(recpack_io.open(self.out)[0]['zip'].tobytes(), b'01')

    def test_reviews(self):
        recpack('stand-in', self.folder / 'made', '--kind', 'reviews', '--records', 400, '--seed', 5)
        source = self.folder / 'made' / 'reviews.jsonl'
        options = {'kind': 'reviews', 'max_tokens': 16, 'vocabulary': 50, 'seed': 3}
        self.same(source, options, '--from', 'reviews', '--max-tokens', 16, '--vocabulary', 50, '--seed', 3)

    def test_appended(self):
        self.pack(CIFAR, kind='cifar10', limit=5)
        before = len(recpack_io.open(self.out))
        self.pack(CIFAR, limit=3, append=True)
        self.assertEqual(len(recpack_io.open(self.out)), before + 3)

    def test_parts_of_a_job(self):
        first = self.pack(CIFAR, shards=4, task=(0, 2))
        self.assertFalse(first.complete)
        self.assertFalse((self.out / 'manifest.json').exists())
        last = self.pack(CIFAR, shards=4, task=(1, 2))
        self.assertTrue(last.complete)
        whole = recpack_json('ls', self.out)['splits']
        self.assertEqual(first.records + last.records, sum(each['records'] for each in whole.values()))

    def test_an_index_for_dali(self):
        self.pack(CIFAR, dali_index=True)
        self.assertTrue(list(self.out.glob('*.idx')))

    def test_values_that_cannot_be(self):
        for options in ({'layout': 'rows'}, {'jpeg': 'tiles'}, {'quality': 0}, {'resize': -1},
                        {'append': True, 'overwrite': True}, {'max_tokens': 0}, {'vocabulary': 0},
                        {'vocabulary': 5, 'vocabulary_file': 'v'}, {'kind': 'zip'}, {'task': (2, 2)}):
            with self.assertRaisesRegex(recpack_io.InvalidArgumentError,
                                        str(next(iter(options.values()))) if 'kind' in options else ''):
                self.pack(CIFAR, **options)
            self.assertFalse((self.out / 'manifest.json').exists(), options)
        with self.assertRaises(TypeError):
            self.pack(CIFAR, threads='all')


class Notices(Packing):
    def test_labels_that_count_from_one(self):
        first = self.folder / 'first'
        recpack_io.pack(({'label': 1 + number % 3} for number in range(9)), first, sync=False)
        result = self.pack(first, kind='tfrecord')
        self.assertEqual(len(result.notices), 1)
        self.assertIn('label_offset=1 takes one off', result.notices[0])
        self.assertEqual(self.pack(CIFAR, overwrite=True).notices, [])


class Errors(Packing):
    """They say what to do in Python's words."""

    def says(self, words, source, **options):
        with self.assertRaises(recpack_io.RecpackError) as caught:
            self.pack(source, **options)
        error = caught.exception
        self.assertIn(words, str(error))
        self.assertIn(words, f'{error.reason}; {error.advice}')
        self.assertTrue(str(error).endswith(error.advice or error.reason))
        self.assertNotIn('--', str(error))

    def test_arguments(self):
        self.says('kind: cifar10', self.file('unknown', b'\0' * 100))
        self.says('splits has no effect', self.file('texts/a/1.txt', b'text').parent.parent, splits='a,b')
        self.says('append=True', CIFAR, append=True)
        self.file('texts/a/1.jpg', b'\xff\xd8\xff no picture')
        self.says('max_skip=0.001', self.folder / 'texts')
        self.file('mixed/train/a/1.txt', b'text')
        self.file('mixed/more/a/1.txt', b'text')
        self.says('layout="splits" or layout="classes"', self.folder / 'mixed')

    def test_another_job(self):
        self.pack(CIFAR)
        self.says('overwrite=True', CIFAR, shard_bytes=70_000)
        self.says('shard_bytes', CIFAR, shard_bytes=70_000)

    def test_paths_stay_as_they_are(self):
        path = self.folder / '--overwrite' / '--from'
        with self.assertRaises(recpack_io.NotFoundError) as caught:
            self.pack(path)
        self.assertIn(str(path), str(caught.exception))
        self.assertEqual(caught.exception.path, str(path))

    def test_whole_commands_stay_as_they_are(self):
        from recpack_io.errors import in_python
        self.assertEqual(in_python('pack it: recpack pack SRC OUT --from tar; or use --overwrite'),
                         'pack it: recpack pack SRC OUT --from tar; or use overwrite=True')

    def file(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path


if __name__ == '__main__':
    main()
