"""Tests recpack ls, cat, sheet, verify, index and repair."""
import base64
import gzip
import json
import os
import shutil
import struct
import unittest

from support import CIFAR, FINDING, CliTest


class Shards(CliTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / 'out'
        self.pack(CIFAR / 'cifar-10-batches-py', '--shards', '2')
        self.shard = self.out / 'train-00000-of-00002.tfrecord'

    def damage(self, record):
        frame = 16 + 3110
        data = bytearray(self.shard.read_bytes())
        data[record * frame + 100] ^= 1
        self.shard.write_bytes(data)
        return record * frame

    def test_ls(self):
        listed = self.json('ls', self.out)
        self.assertEqual({n: (s['shards'], s['records'], s['bytes'])
                          for n, s in listed['splits'].items()},
                         {'train': (2, 64, 64 * 3126), 'validation': (2, 16, 16 * 3126),
                          'eval': (2, 16, 16 * 3126)})
        self.assertEqual(listed['schema'], {'image': {'kind': 'bytes', 'length': 1},
                                            'label': {'kind': 'int64', 'length': 1}})
        text = self.run_recpack('ls', self.out, '--shards', '--split', 'train').stdout
        self.assertIn('train-00001-of-00002.tfrecord', text)
        self.assertNotIn('eval', text)
        self.assertIn('airplane', text)
        self.fails('ls', self.out, '--split', 'dev', saying='train, validation, eval')
        self.fails('ls', self.folder / 'nothing', saying='no such file')

    def test_ls_without_a_manifest(self):
        before = self.json('ls', self.out)
        (self.out / 'manifest.json').unlink()
        by_index = self.run_recpack('ls', self.out, '--json')
        self.assertIn('--classes', by_index.stderr)
        after = json.loads(by_index.stdout)
        for split in after['splits'].values():
            self.assertNotIn('classes', split)
        self.assertEqual(after['splits'].keys(), before['splits'].keys())
        self.assertEqual(after['schema'], before['schema'])
        self.assertEqual(self.json('ls', self.out, '--classes')['splits'], before['splits'])
        for split in before['splits']:
            (self.out / f'{split}.recindex').unlink()
        self.assertEqual(self.json('ls', self.out)['splits'], before['splits'])

    def test_commands_and_loaders_say_where_a_pack_was_not_finished(self):
        self.assertNotIn('unfinished', self.json('ls', self.out))
        (self.out / 'manifest.json').unlink()
        self.assertNotIn('unfinished', self.json('ls', self.out))  # all shards exist
        self.shard.unlink()
        said = self.run_recpack('ls', self.out, '--json')
        self.assertEqual(json.loads(said.stdout)['unfinished'],
                         {'planned_shards': 6, 'missing_shards': 1})
        self.assertIn('plans 6 shards, of which 1 are missing', said.stderr)
        for reads in (['cat', self.out], ['sheet', self.out, self.folder / 'sheet.png'],
                      ['index', self.out, '--out', self.folder / 'indexes']):
            self.assertIn('plans 6 shards, of which 1 are missing', self.run_recpack(*reads).stderr)
        batches = ['--recipe', 'cifar10-eval', '--batch-size', '8']
        saying = ['unfinished pack', '1 of 6', 'recpack pack', '*.tfrecord']
        self.fails('batches', self.out, *batches, saying=saying)
        self.fails('pack', self.out, self.folder / 'again', saying=saying)
        self.run_recpack('batches', self.out / '*.tfrecord', '--split', 'train', *batches)
        lost, = self.json('repair', self.out, self.folder / 'saved', code=FINDING)['lost']
        self.assertEqual(lost['path'], str(self.out / '.recpack/plan.json'))
        (self.out / '.recpack/plan.json').write_text('{')
        said = self.run_recpack('ls', self.out, '--json')
        self.assertIn('plan.json', said.stderr)
        self.assertNotIn('unfinished', json.loads(said.stdout))
        self.assertIn('plan.json', self.run_recpack('cat', self.out).stderr)
        shutil.rmtree(self.out / '.recpack')  # like folders of other programs
        # The index lists all shards.
        self.assertIn('2 shards according to its index, of which 1 are missing',
                      self.run_recpack('ls', self.out, '--classes').stderr)
        self.fails('batches', self.out, *batches, saying=['according to its index', '*.tfrecord'])
        self.run_recpack('batches', self.out / '*.tfrecord', '--split', 'train', *batches)

    def test_ls_says_that_it_reads_a_lot(self):
        path = self.folder / 'large.tfrecord'
        path.touch()
        os.truncate(path, 2_000_000_000)  # sparse; damaged at its first record
        self.fails('ls', path, saying=['reading 2.0 GB', 'recpack index', 'at byte 0'])

    def test_cat(self):
        text = self.run_recpack('cat', self.out, '--split', 'eval', '--record', '2:4').stdout
        self.assertEqual(text.count('image: bytes [<3072 bytes>]'), 2)
        lines = self.run_recpack('cat', self.out, '--record', '30:34', '--json').stdout.splitlines()
        self.assertEqual(len(lines), 4)  # across two shards
        features = json.loads(lines[0])['features']['feature']
        self.assertEqual(len(base64.b64decode(features['image']['bytesList']['value'][0])), 3072)
        self.assertIn('key: "label"', self.run_recpack('cat', self.out, '--text').stdout)
        self.assertEqual(self.run_recpack('cat', self.out, '--range', '2:4').stdout,
                         self.run_recpack('cat', self.out, '--record', '2:4').stdout)
        self.fails('cat', self.out, '--record', '64', saying='the split has 64')
        self.fails('cat', self.out, '--record', 'x', saying='not a record or range')
        self.fails('cat', self.out, '--feature', 'pixels', saying='image, label')

    def test_cat_without_an_index(self):
        before = self.run_recpack('cat', self.out, '--record', '40', '--json').stdout
        (self.out / 'train.recindex').unlink()
        self.assertEqual(self.run_recpack('cat', self.out, '--record', '40', '--json').stdout, before)

    def test_cat_of_a_shard_in_the_working_folder_and_of_shards_in_several(self):
        before = self.run_recpack('cat', self.out, '--record', '40', '--json').stdout
        second = 'train-00001-of-00002.tfrecord'
        self.assertEqual(self.run_recpack('cat', second, '--record', '8', '--json',
                                          cwd=self.out).stdout, before)
        (self.folder / 'outer').mkdir()
        (self.out / second).rename(self.folder / 'outer' / second)
        self.assertEqual(self.run_recpack('cat', self.folder / 'out*/train-*.tfrecord', '--record',
                                          '40', '--json').stdout, before)

    def test_ls_and_cat_of_what_is_not_packed(self):
        photos = self.class_folder()
        self.assertEqual(self.json('ls', photos),
                         {'splits': {'train': {'records': 40}}, 'class_names': ['ant', 'bee']})
        self.assertRegex(self.run_recpack('ls', photos).stdout, r'train +40\n.*recpack pack')
        self.fails('ls', photos, '--split', 'eval', saying="no split 'eval'")
        self.pack(photos, out='packed')
        here, packed = (sorted(self.run_recpack('cat', data, '--record', ':', '--json').stdout.splitlines())
                        for data in (photos, self.folder / 'packed'))
        self.assertEqual(here, packed)
        self.assertEqual(len(here), 40)
        self.fails('cat', photos, '--record', 40, saying='the split has 40')

    def test_ls_and_cat_of_several_paths_as_one_data_set(self):
        more = self.folder / 'more.tfrecord'
        shutil.copy(self.shard, more)
        listed = self.json('ls', self.out, more)
        self.assertEqual({name: split['records'] for name, split in listed['splits'].items()},
                         {'train': 64, 'validation': 16, 'eval': 16, 'all': 32})
        self.assertEqual(listed['class_names'], self.json('ls', self.out)['class_names'])
        alone = self.json('ls', self.out, more, '--split', 'all')
        self.assertEqual(list(alone['splits']), ['all'])
        shards = sorted(self.out.glob('train-*.tfrecord'))  # as a shell expands it
        self.assertEqual(self.json('ls', *shards)['splits']['train']['records'], 64)
        self.assertEqual(self.cat(*shards, '--record', '40'), self.cat(self.out, '--record', '40'))
        self.assertEqual(self.cat(*reversed(shards), '--record', '0'),
                         self.cat(self.out, '--record', '32'))
        self.fails('ls', self.shard, self.shard, saying='twice')
        self.fails('cat', self.out, CIFAR / 'cifar-10-batches-py', saying='unlike the first')
        self.pack(self.class_folder(), out='photos-packed')
        self.fails('ls', self.out, self.folder / 'photos-packed', saying='other class names')

    def cat(self, *arguments):
        return json.loads(self.run_recpack('cat', *arguments, '--json').stdout)

    def test_ls_and_cat_read_features_under_other_names(self):
        fields = ['--field', 'caption=image,label=nothing;label']
        listed = self.run_recpack('ls', self.out, *fields, '--json')
        self.assertIn('not of these fields', listed.stderr)
        features = json.loads(listed.stdout)
        self.assertEqual(features['schema'],
                         {'caption': {'kind': 'bytes', 'length': 1},
                          'image': {'kind': 'bytes', 'length': 1},
                          'image/class/label': {'kind': 'int64', 'length': 1},
                          'label': {'kind': 'int64', 'length': 1}})
        self.assertEqual({name: split['records'] for name, split in features['splits'].items()},
                         {'train': 64, 'validation': 16, 'eval': 16})
        plain = self.json('ls', self.out)['splits']['train']['classes']
        self.assertEqual(self.json('ls', self.out, *fields, '--classes')['splits']['train']['classes'],
                         plain)
        record = self.cat(self.out, *fields)['features']['feature']
        self.assertEqual(record['caption'], record['image'])
        self.assertEqual(self.cat(self.out)['features']['feature'].keys(), {'image', 'label'})
        self.assertEqual(
            self.run_recpack('cat', self.out, *fields, '--feature', 'image/class/label').stdout,
            self.run_recpack('cat', self.out, '--feature', 'label').stdout)
        for command in ('ls', 'cat'):
            self.fails(command, self.out, '--field', 'label=x', saying='no feature x')
            self.fails(command, self.out, '--field', 'label', saying='not TARGET=FIELD')
            self.fails(command, CIFAR / 'cifar-10-batches-py', *fields, saying='no fields to map')

    def test_ls_and_cat_take_the_number_of_the_first_class(self):
        shifted = ['--label-offset', '-1']  # labels are 1 to 10 then
        plain = self.json('ls', self.out)['splits']['train']['classes']
        classes = self.json('ls', self.out, *shifted, '--classes')['splits']['train']['classes']
        self.assertEqual({int(label) - 1: count for label, count in classes.items()},
                         {int(label): count for label, count in plain.items()})
        label = int(self.run_recpack('cat', self.out, '--feature', 'label').stdout)
        one_more = self.run_recpack('cat', self.out, '--feature', 'label', *shifted).stdout
        self.assertEqual(int(one_more), label + 1)
        self.fails('cat', self.out, '--label-offset', '10',
                   saying=['record 0 of the split train', 'below the label offset'])

    def test_sheet(self):
        self.run_recpack('sheet', self.out, self.folder / 'a.png', '--columns', '4', '--rows', '2')
        self.run_recpack('sheet', self.out, self.folder / 'b.png', '--columns', '4', '--rows', '2')
        self.run_recpack('sheet', self.out, self.folder / 'c.png', '--columns', '4', '--rows', '2',
                         '--seed', '1')
        pictures = [(self.folder / f'{n}.png').read_bytes() for n in 'abc']
        self.assertTrue(pictures[0].startswith(b'\x89PNG'))
        self.assertEqual(pictures[0], pictures[1])
        self.assertNotEqual(pictures[0], pictures[2])
        self.fails('sheet', self.out, self.folder / 'd.png', '--shape', '3x9', saying='not a shape')

    def size_of(self, name):
        """Width and height of a PNG."""
        return struct.unpack('>II', (self.folder / name).read_bytes()[16:24])

    def test_sheet_of_a_split_in_cells(self):
        one = ['--columns', '1', '--rows', '1']
        done = self.run_recpack('sheet', self.out, self.folder / 'a.png', *one, '--split', 'eval')
        self.assertIn('split eval', done.stdout)
        done = self.run_recpack('sheet', self.out, self.folder / 'b.png', *one, '--cell', '32',
                                '--quiet')
        self.assertEqual(done.stdout, '')
        told = self.json('sheet', self.out, self.folder / 'b.png', *one, '--cell', '32')
        self.assertEqual((told['width'], told['height']), self.size_of('b.png'))
        self.assertEqual((told['path'], told['split']), (str(self.folder / 'b.png'), 'train'))
        width, height = zip(self.size_of('a.png'), self.size_of('b.png'))
        self.assertEqual((width[0] - width[1], height[0] - height[1]), (64, 64))

    def test_sheet_of_the_batch_behind_a_token(self):
        like = ['--recipe', 'cifar10-train', '--batch-size', '8']
        tokens = {}
        for count in 1, 2:
            lines = self.run_recpack('batches', self.out, *like, '--limit', str(count)).stdout
            tokens[count] = lines.splitlines()[-1].split()[1]

        def draw(name, token, *flags):
            done = self.run_recpack('sheet', self.out, self.folder / name, '--token', token,
                                    '--columns', '4', *(flags or like))
            self.assertIn('after the token', done.stdout)
            return (self.folder / name).read_bytes()

        first = draw('a.png', tokens[1])
        self.assertEqual(first, draw('b.png', tokens[1]))
        self.assertNotEqual(first, draw('c.png', tokens[2]))
        self.assertNotEqual(first, draw('d.png', tokens[1], '--recipe', 'cifar10-eval',
                                        '--batch-size', '8'))  # neither cropped nor flipped
        self.run_recpack('sheet', self.out, self.folder / 'e.png', '--columns', '4', '--rows', '2')
        self.assertEqual(self.size_of('a.png'), self.size_of('e.png'))
        to = ('sheet', self.out, self.folder / 'f.png')
        self.fails(*to, '--token', tokens[1], saying='--recipe')
        self.fails(*to, *like, saying='--token')
        self.fails(*to, *like, '--token', tokens[1], '--seed', '1', saying='--seed')
        self.fails(*to, *like, '--token', 'x', saying='invalid token')

    def test_sheet_of_raw_pictures(self):
        path = self.folder / 'list.csv'
        path.write_text('path\nraw.bin\n')
        (self.folder / 'raw.bin').write_bytes(bytes(range(40)) * 20)  # a gray picture, 20 by 40
        self.pack(path, out='raw')
        one = ['--columns', '1', '--rows', '1', '--cell', '40']
        self.run_recpack('sheet', self.folder / 'raw', self.folder / 'a.png', *one, '--shape',
                         '1x40x20')
        self.run_recpack('sheet', self.folder / 'raw', self.folder / 'b.png', *one, '--shape',
                         '1x20x40')
        self.assertNotEqual((self.folder / 'a.png').read_bytes(),
                            (self.folder / 'b.png').read_bytes())

    def test_verify(self):
        whole = self.json('verify', self.out, '--decode')
        self.assertEqual((whole['records'], whole['findings']), (96, []))
        offset = self.damage(5)
        found = self.json('verify', self.out, code=FINDING)
        self.assertEqual(found['records'], 95)
        self.assertEqual({k: found['findings'][0][k] for k in ('path', 'offset', 'ordinal')},
                         {'path': str(self.shard), 'offset': offset, 'ordinal': 5})
        self.assertIn('CRC', found['findings'][0]['reason'])
        self.run_recpack('verify', self.out, '--split', 'eval')
        done = self.run_recpack('verify', self.out, '--quiet', '--threads', '2', code=FINDING)
        self.assertEqual((done.stdout, done.stderr), ('', ''))

    def test_verify_finds_exchanged_and_missing_shards(self):
        other = self.out / 'train-00001-of-00002.tfrecord'
        self.shard.write_bytes(other.read_bytes())
        found = self.json('verify', self.out, code=FINDING)
        self.assertIn('SHA-256', found['findings'][0]['reason'])
        other.unlink()
        found = self.json('verify', self.out, code=FINDING)
        self.assertIn(str(other), [f['path'] for f in found['findings']])

    def test_repair(self):
        self.damage(5)
        saved = self.json('repair', self.out, self.folder / 'saved', code=FINDING)
        self.assertEqual(saved['records'], 95)
        self.assertEqual((saved['lost'][0]['ordinal'], saved['lost'][0]['records']), (5, 1))
        ledger = (self.folder / 'saved/repair-ledger.jsonl').read_text().splitlines()
        self.assertEqual(json.loads(ledger[0])['ordinal'], 5)
        self.run_recpack('verify', self.folder / 'saved')
        self.fails('repair', self.out, self.folder / 'saved', saying='not empty')
        done = self.run_recpack('repair', self.out, self.folder / 'again', '--threads', '1',
                                '--quiet', code=FINDING)
        self.assertEqual(done.stdout, '')
        self.equal_shards(self.shards('saved'), self.shards('again'))

    def test_repair_where_the_manifest_is_damaged(self):
        manifest = self.out / 'manifest.json'
        manifest.write_bytes(bytes(manifest.stat().st_size))
        self.fails('ls', self.out, saying='manifest.json')
        self.damage(5)
        saved = self.json('repair', self.out, self.folder / 'saved', code=FINDING)
        self.assertEqual(saved['records'], 95)
        of_manifest, of_record = saved['lost']
        self.assertEqual((of_manifest['path'], of_manifest['records']), (str(manifest), 0))
        self.assertIn('the manifest is damaged', of_manifest['reason'])
        self.assertEqual((of_record['ordinal'], of_record['records']), (5, 1))
        ledger = (self.folder / 'saved/repair-ledger.jsonl').read_text().splitlines()
        self.assertEqual([json.loads(line) for line in ledger], saved['lost'])
        splits = self.json('ls', self.folder / 'saved')['splits']
        self.assertEqual({name: split['records'] for name, split in splits.items()},
                         {'train': 63, 'validation': 16, 'eval': 16})
        self.run_recpack('verify', self.folder / 'saved')
        self.assertEqual(manifest.read_bytes(), bytes(manifest.stat().st_size))

    def test_index(self):
        before = (self.out / 'train.recindex').read_bytes()
        (self.out / 'train.recindex').unlink()
        made = self.json('index', self.out, '--dali-index')
        self.assertEqual([i['records'] for i in made['indexes']], [64, 16, 16])
        self.assertEqual((self.out / 'train.recindex').read_bytes(), before)
        self.assertTrue((self.out / 'eval-00001-of-00002.tfrecord.idx').exists())
        self.json('index', self.out, '--out', self.folder / 'cache')
        self.assertEqual((self.folder / 'cache/train.recindex').read_bytes(), before)
        done = self.run_recpack('index', self.out, '--quiet', '--threads', '1')
        self.assertEqual(done.stdout, '')
        self.assertEqual((self.out / 'train.recindex').read_bytes(), before)

    def test_index_of_several_folders_is_one_each(self):
        (self.out / 'manifest.json').unlink()
        shutil.rmtree(self.out / '.recpack')  # its plan lists both shards
        (self.folder / 'outer').mkdir()
        second = 'train-00001-of-00002.tfrecord'
        (self.out / second).rename(self.folder / 'outer' / second)
        (self.out / 'train.recindex').unlink()
        pattern = self.folder / 'out*/train-*.tfrecord'
        made = self.json('index', pattern)
        self.assertEqual([(i['path'], i['records']) for i in made['indexes']],
                         [(str(self.out / 'train.recindex'), 32),
                          (str(self.folder / 'outer/train.recindex'), 32)])
        for folder in self.out, self.folder / 'outer':
            self.assertEqual(self.json('ls', folder)['splits']['train']['records'], 32)
            self.run_recpack('verify', folder)
        self.run_recpack('verify', pattern)
        self.assertEqual(self.json('ls', pattern)['splits']['train']['records'], 64)
        self.fails('index', pattern, '--out', self.folder / 'cache',
                   saying=['several folders', '--out'])
        self.assertFalse((self.folder / 'cache').exists())

    def test_index_of_a_part_does_not_replace_that_of_the_whole(self):
        before = (self.out / 'train.recindex').read_bytes()
        shard = self.out / 'train-00001-of-00002.tfrecord'
        self.fails('index', shard, saying=['train.recindex', 'all 2 shards of the split, but 1 are given', '--out'])
        self.fails('index', shard.name, saying='all 2 shards of the split, but 1 are given', cwd=self.out)
        self.assertEqual((self.out / 'train.recindex').read_bytes(), before)
        self.json('index', shard, '--out', self.folder / 'cache')

    def test_index_checks_payloads_unless_told_not_to(self):
        self.damage(5)
        self.fails('index', self.out, saying=['train-00000-of-00002', 'record 5', 'CRC'])
        self.run_recpack('index', self.out, '--no-verify')

    def test_index_finds_the_flush_points_of_compressed_shards(self):
        photos = self.class_folder(files=1500)  # more than 2 MB that does not compress
        for compression in 'gzip', 'zlib':
            with self.subTest(compression=compression):
                out = self.folder / compression
                self.pack(photos, '--shards', '1', '--compression', compression, out=compression)
                index, = out.glob('*.recindex')
                before = index.read_bytes()
                index.unlink()
                (out / 'manifest.json').unlink()
                self.run_recpack('index', out)
                self.assertEqual(index.read_bytes(), before)
                last = self.run_recpack('cat', out, '--record', '1499', '--text').stdout
                self.assertIn('image/filename', last)

    def test_compressed_shards_of_others(self):
        foreign = self.folder / 'foreign'
        foreign.mkdir()
        shard = foreign / 'train-00000-of-00001.tfrecord'
        frames = self.shard.read_bytes()
        whole = gzip.compress(frames[:40000]) + gzip.compress(frames[40000:])  # two members
        shard.write_bytes(whole)
        self.assertEqual(self.json('index', foreign)['indexes'][0]['records'], 32)
        self.assertEqual(self.run_recpack('cat', foreign, '--record', '30', '--json').stdout,
                         self.run_recpack('cat', self.shard, '--record', '30', '--json').stdout)
        for damaged, saying in ((whole[:-1], 'the compressed stream is cut off'),
                                (whole[:-5] + b'....' + whole[-1:], 'incorrect data check'),
                                (whole[:-4] + b'....', 'incorrect length check'),
                                (whole + b'...', 'incorrect header check')):
            shard.write_bytes(damaged)
            self.fails('index', foreign, saying=[shard.name, 'record 32', saying])


if __name__ == '__main__':
    unittest.main()
