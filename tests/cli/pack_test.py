"""Tests recpack pack: CIFAR, folders, and options of the job."""
import gzip
import hashlib
import json
import pathlib
import re
import shutil
import unittest

from support import CIFAR, FINDING, GOLDEN, CliTest


class PackCifar(CliTest):
    def test_the_archive_becomes_the_splits_of_the_conversion_script(self):
        result = self.pack(CIFAR / 'cifar-10-python.tar.gz')
        self.assertEqual(result['records'], 96)
        self.assertEqual([p.split('/')[-1] for p in (s['path'] for s in result['shards'])],
                         ['train-00000-of-00001.tfrecord', 'validation-00000-of-00001.tfrecord',
                          'eval-00000-of-00001.tfrecord'])
        self.assertEqual([s['records'] for s in result['shards']], [64, 16, 16])
        for shard in result['shards']:
            data = pathlib.Path(shard['path']).read_bytes()
            self.assertEqual(len(data), shard['bytes'])
            self.assertEqual(hashlib.sha256(data).hexdigest(), shard['sha256'])
        self.assertEqual(result['skipped'], [])
        self.assertGreater(result['seconds'], 0)

    def test_archive_folder_and_binary_version_give_the_same_shards(self):
        for i, name in enumerate(['cifar-10-python.tar.gz', 'cifar-10-batches-py',
                                  'cifar-10-batches-bin']):
            self.pack(CIFAR / name, '--from', 'cifar10', out=str(i))
        self.equal_shards(self.shards('0'), self.shards('1'))
        self.equal_shards(self.shards('0'), self.shards('2'))

    def test_two_splits(self):
        result = self.pack(CIFAR / 'cifar-10-batches-py', '--splits', 'train,test')
        self.assertEqual([s['records'] for s in result['shards']], [80, 16])

    def test_rows_come_out_bit_for_bit(self):
        self.pack(CIFAR / 'cifar-10-batches-bin')
        rows = (CIFAR / 'cifar-10-batches-bin/data_batch_2.bin').read_bytes()
        cat = ['cat', self.folder / 'out', '--split', 'train', '--record', 16 + 3]
        self.run_recpack(*cat, '--feature', 'image', '--out', self.folder / 'pixels')
        self.assertEqual((self.folder / 'pixels').read_bytes(), rows[3 * 3073 + 1:4 * 3073])
        self.assertEqual(self.run_recpack(*cat, '--feature', 'label').stdout.strip(),
                         str(rows[3 * 3073]))


class PackFolder(CliTest):
    def test_class_folders_are_shuffled_and_counted(self):
        self.pack(self.class_folder())
        listed = self.json('ls', self.folder / 'out')
        self.assertEqual(listed['splits']['train']['records'], 40)
        self.assertEqual(listed['splits']['train']['classes'], {'0': 20, '1': 20})
        self.assertEqual(listed['class_names'], ['ant', 'bee'])
        labels = self.run_recpack('cat', self.folder / 'out', '--record', ':', '--feature',
                                  'image/class/label').stdout.split()
        self.assertNotEqual(labels, sorted(labels))
        self.pack(self.folder / 'photos', '--shuffle', 'off', out='sorted')
        labels = self.run_recpack('cat', self.folder / 'sorted', '--record', ':', '--feature',
                                  'image/class/label').stdout.split()
        self.assertEqual(labels, sorted(labels))

    def test_nested_splits(self):
        for split in 'train', 'val', 'test':
            self.class_folder(name=f'nested/{split}', files=6)
        self.pack(self.folder / 'nested')
        splits = self.json('ls', self.folder / 'out')['splits']
        self.assertEqual({n: s['records'] for n, s in splits.items()},
                         {'train': 6, 'validation': 6, 'test': 6})

    def photos(self):
        root = self.folder / 'photos' / 'all'
        root.mkdir(parents=True)
        for name in 'rgb.jpg', 'progressive.jpg', 'gray.png':
            if (GOLDEN / 'image' / name).exists():
                shutil.copy(GOLDEN / 'image' / name, root)
        self.assertGreaterEqual(len(list(root.iterdir())), 2)
        return self.folder / 'photos'

    def test_images_are_checked_resized_and_tiled(self):
        photos = self.photos()
        plain = self.pack(photos)
        for flags in ['--check-images'], ['--resize', '16', '--quality', '80'], ['--jpeg', 'tile']:
            result = self.pack(photos, *flags, out=flags[0])
            self.assertEqual(result['records'], plain['records'])
            self.run_recpack('verify', self.folder / flags[0], '--decode')
        self.assertEqual(self.run_recpack('cat', self.folder / '--resize', '--record', '0',
                                          '--feature', 'image/format').stdout, 'JPEG')
        self.run_recpack('sheet', self.folder / 'out', self.folder / 'sheet.png')
        self.assertTrue((self.folder / 'sheet.png').read_bytes().startswith(b'\x89PNG'))


    def test_bytes_of_one_shard_do_not_depend_on_threads(self):
        photos = self.photos()
        for i in range(100):
            for image in list((photos / 'all').glob('[a-z]*')):
                shutil.copy(image, photos / 'all' / f'{i}{image.name}')
        for flags in [], ['--check-images'], ['--resize', '16'], ['--jpeg', 'tile']:
            flags = [*flags, '--shards', '1']
            self.pack(photos, *flags, '--threads', '1', '--overwrite')
            one = self.shards()
            self.pack(photos, *flags, '--threads', '5', '--overwrite')
            self.equal_shards(self.shards(), one)
            packed = self.folder / 'out'
            for threads in '1', '5':  # repacks the shard and changes its images
                self.pack(packed, *flags, '--threads', threads, '--overwrite', out='by' + threads)
            self.equal_shards(self.shards('by5'), self.shards('by1'))


class PackOptions(CliTest):
    def test_bytes_do_not_depend_on_threads_or_cpu(self):
        photos = self.class_folder()
        flags = ['--shard-size', '8kB', '--compression', 'zlib']
        self.pack(photos, *flags, '--threads', '1')
        for i, (threads, env) in enumerate([('4', {}), ('2', {'RECPACK_CPU': 'portable'}),
                                            ('1', {'RECPACK_CPU': 'sse42', 'JSIMD_FORCENONE': '1'})]):
            self.pack(photos, *flags, '--threads', threads, out=str(i), env=env)
            self.equal_shards(self.shards(), self.shards(str(i)))

    def test_tasks_make_the_same_shards(self):
        photos = self.class_folder()
        self.pack(photos, '--shard-size', '8kB')
        for task in '2/3', '0/3':
            self.assertFalse(self.pack(photos, '--shard-size', '8kB', '--task', task,
                                       out='parts')['complete'])
        self.assertTrue(self.pack(photos, '--shard-size', '8kB', '--task', '1/3',
                                  out='parts')['complete'])
        self.equal_shards(self.shards(), self.shards('parts'))

    def test_tasks_by_the_environment(self):
        photos = self.class_folder()
        self.pack(photos, '--shard-size', '8kB')
        for i in range(3):
            array = {'SLURM_ARRAY_TASK_ID': str(5 + i), 'SLURM_ARRAY_TASK_MIN': '5', 'SLURM_ARRAY_TASK_MAX': '7',
                     'SLURM_ARRAY_TASK_COUNT': '3'}
            done = self.pack(photos, '--shard-size', '8kB', '--task', 'auto', out='parts', env=array)
            self.assertEqual(done['complete'], i == 2)
        self.equal_shards(self.shards(), self.shards('parts'))
        self.fails('pack', photos, self.folder / 'other', '--task', 'auto', saying='does not tell which task',
                   env=dict.fromkeys(('RANK', 'SLURM_PROCID', 'OMPI_COMM_WORLD_RANK', 'PMI_RANK'), ''))

    def test_append(self):
        self.pack(self.class_folder())
        self.pack(self.class_folder(name='more', files=10), '--append')
        self.assertEqual(self.json('ls', self.folder / 'out')['splits']['train']['records'], 50)
        self.run_recpack('verify', self.folder / 'out')

    def test_dry_run_writes_nothing_and_plans_what_comes(self):
        photos = self.class_folder()
        plan = self.pack(photos, '--shard-size', '8kB', '--dry-run')
        self.assertFalse((self.folder / 'out').exists())
        made = self.pack(photos, '--shard-size', '8kB')
        self.assertEqual([s['path'] for s in plan['shards']], [s['path'] for s in made['shards']])
        self.assertEqual(plan['records'], made['records'])
        self.assertAlmostEqual(plan['bytes'] / made['bytes'], 1, delta=0.2)
        self.assertGreater(plan['seconds'], 0)
        self.assertIn('reading', plan['seconds_include'])
        self.assertIn('writing', plan['seconds_exclude'])
        text = self.run_recpack('pack', photos, self.folder / 'other', '--dry-run').stdout
        self.assertIn('reading, encoding and compressing would take about', text)
        self.assertIn('writing and syncing, which depend on the disk, take additional time', text)

    def test_compression_levels_change_the_size_and_no_record(self):
        texts = self.folder / 'texts/all'
        texts.mkdir(parents=True)
        (texts / '1.txt').write_text(' '.join(str(i * i) for i in range(20_000)))
        for level in '19':
            self.pack(texts.parent, '--compression', 'gzip', '--level', level, out=level)
        shards = [self.shards(out)['train-00000-of-00001.tfrecord'] for out in '19']
        self.assertGreater(len(shards[0]), len(shards[1]))
        self.assertEqual(gzip.decompress(shards[0]), gzip.decompress(shards[1]))
        self.fails('pack', CIFAR, self.folder / 'out', '--level', '10', saying='--level')

    def test_no_digest(self):
        result = self.pack(self.class_folder(), '--no-digest')
        self.assertEqual([s['sha256'] for s in result['shards']], [None])
        self.assertNotIn('sha256', (self.folder / 'out/manifest.json').read_text())
        self.run_recpack('verify', self.folder / 'out')

    def test_the_summary_says_where_sizes_are_not_those_of_the_plan(self):
        texts = self.folder / 'texts'
        texts.mkdir()
        (texts / 'a.txt').write_text('again and again ' * 5000)
        def summary(out, *flags):
            return self.run_recpack('pack', texts, self.folder / out, '--no-sync', *flags).stdout
        self.assertNotIn('planned', summary('plain'))
        self.assertIn('planned were 80.', summary('small', '--compression', 'gzip'))

    def test_a_size_is_suggested_where_shards_would_be_very_many(self):
        (self.folder / 'a.bin').write_bytes(b'a' * 10_000)
        rows = self.folder / 'rows.csv'
        for count, suggests in (10_000, False), (10_001, True):
            rows.write_text('path\n' + 'a.bin\n' * count)
            done = self.run_recpack('pack', rows, self.folder / 'out', '--shard-size', '10kB',
                                    '--dry-run', '--quiet')
            self.assertEqual(f'{count} shards' in done.stderr, suggests, done.stderr)
        size = re.search('--shard-size ([^ ]+)', done.stderr)[1]
        done = self.run_recpack('pack', rows, self.folder / 'out', '--shard-size', size,
                                '--dry-run', '--json')
        self.assertLess(abs(len(json.loads(done.stdout)['shards']) - 1000), 50)

    def test_quiet(self):
        photos = self.class_folder()
        (photos / 'beside.txt').write_text('left out, of which a note would tell')
        done = self.run_recpack('pack', photos, self.folder / 'out', '--quiet')
        self.assertEqual((done.stdout, done.stderr), ('', ''))
        done = self.run_recpack('pack', photos, self.folder / 'loud')
        self.assertIn('packed 40 records', done.stdout)
        self.assertIn('1 files beside class folders left out', done.stderr)

    def test_limit_and_dali_index(self):
        result = self.pack(self.class_folder(), '--limit', '7', '--dali-index')
        self.assertEqual(result['records'], 7)
        lines = (self.folder / 'out/train-00000-of-00001.tfrecord.idx').read_text().splitlines()
        self.assertEqual(len(lines), 7)
        offset, size = map(int, lines[-1].split())
        self.assertEqual(offset + size, result['bytes'])

    def test_bad_items_are_skipped_within_the_limit(self):
        photos = self.class_folder()
        (photos / 'ant/0000.bin').write_bytes(b'')
        self.fails('pack', photos, self.folder / 'out', saying=['0000.bin'])
        skipped = self.pack(photos, '--on-error', 'skip', code=FINDING)
        self.assertFalse((self.folder / 'out/manifest.json').exists())
        self.assertIn('0000.bin', skipped['skipped'][0]['path'])
        result = self.pack(photos, '--on-error', 'skip', '--max-skip', '5%')
        self.assertEqual(result['records'], 39)
        self.assertEqual(len(result['skipped']), 1)


if __name__ == '__main__':
    unittest.main()
