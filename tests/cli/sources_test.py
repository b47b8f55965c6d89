"""Tests recpack pack with all kinds of sources and their flags."""
import csv
import shutil
import unittest

from support import CIFAR, GOLDEN, CliTest
from tar_files import write_tar


class Others(CliTest):
    def tar(self, name, members):
        return write_tar(self.folder / name, members)

    def test_webdataset_tars(self):
        members = [(f'{i:03}.{e}', b'%d' % (i % 3) if e == 'cls' else b'text %d' % i)
                   for i in range(9) for e in ('txt', 'cls')]
        for name in 'a.tar', 'b.tar.gz':
            self.pack(self.tar(name, members), out=name + '-out')
            self.assertEqual(self.json('ls', self.folder / (name + '-out'))['schema']['cls'],
                             {'kind': 'int64', 'length': 1})
        self.equal_shards(self.shards('a.tar-out'), self.shards('b.tar.gz-out'),
                          but=['manifest.json'])
        self.assertIn('text 4', self.run_recpack('cat', self.folder / 'a.tar-out', '--record', 4,
                                                 '--text').stdout)

    def test_a_member_that_would_escape_is_refused(self):
        self.fails('pack', self.tar('bad.tar', [('../../x.txt', b'x')]), self.folder / 'out',
                   saying=['bad.tar', '../../x.txt'])

    def test_lists(self):
        photos = self.class_folder(files=6)
        with open(self.folder / 'list.csv', 'w', newline='') as file:
            rows = csv.writer(file)
            rows.writerow(['path', 'label', 'weight', 'split'])
            for i, path in enumerate(sorted(photos.rglob('*.bin'))):
                rows.writerow([path, i % 2, i / 4, 'train' if i else 'test'])
        self.pack(self.folder / 'list.csv')
        listed = self.json('ls', self.folder / 'out')
        self.assertEqual({n: s['records'] for n, s in listed['splits'].items()},
                         {'train': 5, 'test': 1})
        self.assertEqual(listed['schema']['weight']['kind'], 'float')

    def test_shards_are_packed_anew(self):
        self.pack(CIFAR / 'cifar-10-batches-py')
        self.pack(self.folder / 'out', '--shards', '4', '--compression', 'gzip', '--shuffle', '3',
                  out='again')
        again = self.json('ls', self.folder / 'again')
        self.assertEqual(again['splits']['train']['shards'], 4)
        self.assertEqual(again['splits']['train']['records'], 64)
        self.pack(self.folder / 'again', '--filter', 'label=6', out='few')
        one_label = self.json('ls', self.folder / 'few')['splits']
        self.assertEqual({label for s in one_label.values() for label in s['classes']}, {'6'})

    def test_compressed_shards_of_ours_are_packed_anew_without_unpacking(self):
        self.pack(self.class_folder(files=900), '--shards', '2', '--compression', 'gzip')
        here = ['--work-folder', self.folder / 'nowhere']
        self.pack(self.folder / 'out', '--shards', '3', *here, out='anew')
        self.fails('pack', self.folder / 'out', self.folder / 'shuffled', '--shuffle', '1', *here,
                   saying='nowhere')
        for index in (self.folder / 'out').glob('*.recindex'):
            index.unlink()
        self.fails('pack', self.folder / 'out', self.folder / 'unpacked', *here, saying='nowhere')
        self.pack(self.folder / 'out', '--shards', '3', out='unpacked')
        self.equal_shards(self.shards('anew'), self.shards('unpacked'), but=['manifest.json'])

    def test_labels_from_one_are_noticed_and_shifted(self):
        with open(self.folder / 'list.csv', 'w') as file:
            file.write('path,label\n')
            for i in range(9):
                (self.folder / f'{i}.bin').write_bytes(b'x')
                file.write(f'{i}.bin,{i % 3 + 1}\n')
        done = self.run_recpack('pack', self.folder / 'list.csv', self.folder / 'out')
        self.assertIn('--label-offset 1', done.stderr)
        self.pack(self.folder / 'out', '--label-offset', '1', out='zero')
        self.assertEqual(self.json('ls', self.folder / 'zero')['splits']['train']['classes'],
                         {'0': 3, '1': 3, '2': 3})

    def test_fields_of_others_are_mapped(self):
        self.pack(CIFAR / 'cifar-10-batches-py')
        self.pack(self.folder / 'out', '--field', 'pixels=image,class=label', out='mapped')
        schema = self.json('ls', self.folder / 'mapped')['schema']
        self.assertEqual(set(schema), {'pixels', 'class'})

    def test_the_split_of_a_tar_and_the_work_folder(self):
        archive = self.tar('a.tar.gz', [('1.txt', b'one'), ('2.txt', b'two')])
        (self.folder / 'work').mkdir()
        self.pack(archive, '--split', 'dev', '--work-folder', self.folder / 'work')
        self.assertEqual(list(self.json('ls', self.folder / 'out')['splits']), ['dev'])
        self.assertEqual(list((self.folder / 'work').iterdir()), [])
        self.fails('pack', archive, self.folder / 'other', '--work-folder', self.folder / 'none',
                   saying=[str(self.folder / 'none'), 'No such file'])


class Lists(CliTest):
    def list(self, text):
        (self.folder / 'a.bin').write_bytes(b'x')
        (self.folder / 'list.csv').write_text(text)
        return self.folder / 'list.csv'

    def test_types_of_columns(self):
        self.pack(self.list('path,zip,score\na.bin,01234,1\na.bin,99999,2\n'), '--column',
                  'zip=bytes,score=float')
        schema = self.json('ls', self.folder / 'out')['schema']
        self.assertEqual((schema['zip']['kind'], schema['score']['kind']), ('bytes', 'float'))
        zips = self.run_recpack('cat', self.folder / 'out', '--feature', 'zip').stdout
        self.assertEqual(zips, '01234')
        self.fails('pack', self.folder / 'list.csv', self.folder / 'out', '--column', 'zip=bytes',
                   saying="column was 'zip=bytes,score=float' and is now 'zip=bytes'")

    def test_types_that_cannot_be(self):
        rows = self.list('path,score\na.bin,1\na.bin,much\n')
        out = self.folder / 'out'
        self.fails('pack', rows, out, '--column', 'score=int64',
                   saying=['list.csv:3', 'score', 'not int64'])
        self.fails('pack', rows, out, '--column', 'score=double', saying='int64, float and bytes')
        self.fails('pack', rows, out, '--column', 'grade=bytes',
                   saying=['no column grade', 'path, score'])


class Layouts(CliTest):
    def test_folders_beside_train_are_splits_or_classes_as_one_says(self):
        for part in 'train', 'extra':
            self.class_folder(name=f'photos/{part}', files=4)
        photos = self.folder / 'photos'
        self.fails('pack', photos, self.folder / 'out', saying=['extra', '--layout'])
        self.pack(photos, '--layout', 'splits')
        listed = self.json('ls', self.folder / 'out')
        self.assertEqual({n: s['records'] for n, s in listed['splits'].items()},
                         {'train': 4, 'extra': 4})
        self.assertEqual(listed['class_names'], ['ant', 'bee'])
        self.pack(photos, '--layout', 'classes', out='classes')
        listed = self.json('ls', self.folder / 'classes')
        self.assertEqual(listed['class_names'], ['extra', 'train'])
        self.fails('pack', photos, self.folder / 'out', '--layout', 'classes',
                   saying="layout was 'splits' and is now 'classes'")


class Imagenet(CliTest):
    def setUp(self):
        super().setUp()
        self.images = self.folder / 'val'
        self.images.mkdir()
        for i, name in enumerate(['real_420.jpg', 'real_gray.jpg', 'progressive.jpg']):
            shutil.copy(GOLDEN / 'image' / name,
                        self.images / f'ILSVRC2012_val_{i + 1:08}.JPEG')

    def labels_of(self, out):
        return self.run_recpack('cat', self.folder / out, '--record', ':', '--feature',
                                'image/class/text').stdout

    def test_labels_of_the_development_kit_or_of_a_file(self):
        self.fails('pack', self.images, self.folder / 'out', saying=['--devkit', '--labels'])
        kit = self.folder / 'kit'
        data = kit / 'data'
        data.mkdir(parents=True)
        shutil.copy(GOLDEN / 'imagenet/meta.mat', data)
        (data / 'ILSVRC2012_validation_ground_truth.txt').write_text('2\n4\n2\n')
        self.pack(self.images, '--devkit', kit)
        self.assertRegex(self.labels_of('out'), '^(n[0-9]{8}){3}$')
        self.pack(self.images, '--from', 'imagenet', '--labels', kit, out='kit-as-labels')
        self.equal_shards(self.shards(), self.shards('kit-as-labels'))
        ids = self.folder / 'ids.txt'
        ids.write_text('n01440764\nn02000001\nn01440764\n')
        self.pack(self.images, '--labels', ids, out='ids')
        self.assertEqual(self.labels_of('ids'), 'n01440764n01440764n02000001')
        self.fails('pack', self.images, self.folder / 'no', '--labels', ids, '--devkit', kit,
                   saying='excludes')


class ForeignFlags(CliTest):
    def test_flags_that_a_source_has_no_use_for_are_refused(self):
        photos = self.class_folder(files=2)
        for flags in (['--splits', 'train,test'], ['--split', 'dev'], ['--field', 'a=b'],
                      ['--column', 'a=bytes'], ['--filter', 'a=b'], ['--label-offset', '1'],
                      ['--devkit', 'kit'], ['--labels', 'ids.txt']):
            self.fails('pack', photos, self.folder / 'out', *flags,
                       saying=[flags[0], 'kind folder', 'leave it out'])
        for flags in ['--layout', 'splits'], ['--resize', '9'], ['--jpeg', 'tile']:
            self.fails('pack', CIFAR, self.folder / 'out', '--from', 'cifar10', *flags,
                       saying=[flags[0], 'kind cifar10'])
        self.fails('pack', photos, self.folder / 'out', '--quality', '70', saying='--resize')
        self.assertFalse((self.folder / 'out').exists())


if __name__ == '__main__':
    unittest.main()
