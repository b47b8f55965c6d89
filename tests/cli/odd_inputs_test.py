"""Tests odd inputs that a new user may try: they work, or are refused with advice."""
import os
import shutil
import struct
import subprocess
import unittest

from support import FAILURE, FINDING, GOLDEN, RECPACK, CliTest


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return struct.pack('<I', ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff)


def frame(payload):
    length = struct.pack('<Q', len(payload))
    return length + masked(length) + payload + masked(payload)


class OddInputs(CliTest):
    def make(self, path, content=b'text'):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def photo(self, path):
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(GOLDEN / 'image/real_420.jpg', self.folder / path)

    def test_an_empty_folder(self):
        (self.folder / 'empty/.git').mkdir(parents=True)
        self.fails('pack', self.folder / 'empty', self.folder / 'out',
                   saying=['empty: holds no files', 'hidden files are ignored'])
        self.assertFalse((self.folder / 'out').exists())

    def test_one_of_a_thing(self):
        self.make('texts/a/1.txt', b'one')
        done = self.run_recpack('pack', self.folder / 'texts', self.folder / 'out')
        self.assertRegex(done.stdout, r'(?m)^train +1 record +[0-9]+ B  1 shard$')
        self.assertIn('packed 1 record, ', done.stdout)
        self.assertIn('1 record, ', self.run_recpack('verify', self.folder / 'out').stdout)
        self.assertIn('1 record in 1 shard\n', self.run_recpack('index', self.folder / 'out').stdout)

    def test_folders_of_text_files(self):
        self.make('texts/a/1.txt', b'one')
        self.make('texts/b/2.txt', b'two')
        self.assertEqual(self.pack(self.folder / 'texts')['records'], 2)
        self.run_recpack('verify', self.folder / 'out', '--decode')
        self.assertIn('"one"', self.run_recpack('cat', self.folder / 'out', '--text', '--record',
                                                ':').stdout)
        self.fails('sheet', self.folder / 'out', self.folder / 'a.png',
                   saying=['holds a picture', '--shape'])

    def test_spaces_and_letters_of_any_language(self):
        self.photo('my phötos/größe 1/猫 a.jpg')
        out = self.folder / 'out ü'
        self.pack(self.folder / 'my phötos', out='out ü')
        self.assertEqual(self.json('ls', out)['class_names'], ['größe 1'])
        self.assertEqual(self.run_recpack('cat', out, '--feature', 'image/filename').stdout,
                         'größe 1/猫 a.jpg')
        self.run_recpack('sheet', out, self.folder / 'a sheet.png')
        self.run_recpack('verify', out, '--decode')

    def test_links_in_circles(self):
        self.make('photos/ant/1.bin')
        (self.folder / 'photos/ant/up').symlink_to('../ant')
        self.fails('pack', self.folder / 'photos', self.folder / 'out',
                   saying=['ant/up', 'a link to a folder that contains the link', 'remove'])
        (self.folder / 'self').symlink_to('self')
        for words in (['pack', self.folder / 'self', self.folder / 'out'],
                      ['pack', self.class_folder(name='fine', files=2), self.folder / 'self'],
                      ['ls', self.folder / 'self']):
            self.fails(*words, saying=[f'{self.folder}/self: cannot stat', 'symbolic links'])

    def test_an_image_of_no_bytes(self):
        self.photo('photos/all/1.jpg')
        self.make('photos/all/0.jpg', b'')
        photos = self.folder / 'photos'
        self.fails('pack', photos, self.folder / 'out',
                   saying=['all/0.jpg: is empty', '--on-error skip'])
        self.pack(photos, '--on-error', 'skip', '--max-skip', '50%')
        self.assertEqual(self.json('ls', self.folder / 'out')['splits']['train']['records'], 1)

    def test_a_file_called_as_an_image(self):
        self.make('photos/all/0.jpg', b'not at all')
        photos = self.folder / 'photos'
        self.pack(photos)  # any pile of files can be packed
        self.fails('pack', photos, self.folder / 'checked', '--check-images', saying='all/0.jpg')
        self.pack(photos, '--check-images', '--on-error', 'skip', out='checked', code=FINDING)

    def test_out_within_the_source(self):
        photos = self.class_folder(files=4)
        (self.folder / 'link').symlink_to(photos)
        for source, out in ((photos, photos / 'out'), (f'{photos}/', photos / 'a/b/../c'),
                            (photos, photos), (self.folder / 'link', photos / 'out'),
                            (photos, self.folder / 'link/out')):
            self.fails('pack', source, out, saying=[str(out), 'within the folder', 'outside of'])
        self.assertEqual(sorted(os.listdir(photos)), ['ant', 'bee'])
        self.pack(photos, out='photos-out')  # not within the folder, although its name begins alike

    def test_out_that_holds_the_shards_that_are_packed(self):
        self.pack(self.class_folder(files=4))
        out = self.folder / 'out'
        before = self.shards()
        (self.folder / 'link').symlink_to(out)
        (self.folder / 'linked').mkdir()
        for name in before:
            (self.folder / 'linked' / name).symlink_to(out / name)
        for source, into in ((out, out), (f'{out}/', out), (out, self.folder / 'link'),
                             (self.folder / 'link', out), (f'{out}/train-*.tfrecord', out),
                             (self.folder / 'linked', out)):
            self.fails('pack', source, into, '--shuffle', '3', '--overwrite',
                       saying=[f'{into}: holds the shards to pack', 'another folder'])
        self.equal_shards(self.shards(), before)
        self.pack(out, out='again')
        self.pack(out, '--shuffle', '3', '--overwrite', out='again')

    def test_output_that_does_not_fit(self):
        self.pack(self.class_folder(files=4))
        if not os.path.exists('/dev/full'):
            self.skipTest('there is no /dev/full')
        for words in ['ls'], ['ls', '--json'], ['cat', '--record', ':', '--json'], ['verify']:
            with open('/dev/full', 'wb') as full:
                done = subprocess.run([RECPACK, words[0], self.folder / 'out', *words[1:]],
                                      stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
            self.assertEqual(done.returncode, FAILURE, words)
            self.assertIn('No space left', done.stderr)

    def test_out_that_cannot_be(self):
        photos = self.class_folder(files=4)
        file = self.make('file')
        self.fails('pack', photos, file, saying=f'{file}: is a file')
        self.fails('pack', photos, file / 'out', saying=[str(file / 'out'), 'Not a directory'])
        self.pack(photos)
        self.fails('index', self.folder / 'out', '--out', file,
                   saying=[f'{file}: cannot make the folder'])
        missing = self.folder / 'none/a.jpg'
        self.fails('cat', self.folder / 'out', '--feature', 'image/encoded', '--out', missing,
                   saying=f'{missing}: cannot create')

    def test_numbers_below_zero(self):
        photos = self.class_folder(files=4)
        for flag in '--shards', '--limit', '--threads':
            self.fails('pack', photos, self.folder / 'out', flag, '-1', saying=flag)
        self.assertFalse((self.folder / 'out').exists())

    def test_values_that_make_no_sense(self):
        photos = self.class_folder(files=4)
        for flags, text in {
                '--shard-size 0': "not a size: '0'", '--shard-size 0.5': 'not a size',
                '--shard-size nan': 'not a size', '--shards 0': 'whole number from 1 up',
                '--shards 1.5': 'whole number', f'--shards {10**20}': 'whole number',
                '--shards 2 --shard-size 1MB': '--shard-size', '--limit 0': 'from 1 up',
                '--threads 1000000': 'whole number from 0 to 1024', '--resize 0': '--resize',
                '--quality 50': 'requires --resize', '--resize 9 --quality 0': '--quality',
                '--resize 9 --quality 101': '--quality', '--task 3/2': 'not a task',
                '--task 0/-2': 'not a task', '--task 0/0': 'not a task',
                '--task 1': 'not a task', '--shuffle +1': 'not a seed',
                f'--shuffle {10**20}': 'not a seed', '--level 3': '--compression',
                '--on-error skip --max-skip -1%': 'not a share',
                '--on-error skip --max-skip 101%': 'not a share',
                '--max-skip 1%': '--on-error skip', '--append --overwrite': '--append',
                '--append': 'no data set to append to', '--task 0/2 --overwrite': 'overwrite'}.items():
            with self.subTest(flags):
                self.fails('pack', photos, self.folder / 'out', *flags.split(), saying=text)
                self.assertFalse((self.folder / 'out').exists())

    def test_values_are_checked_before_the_source_is_read(self):
        self.fails('pack', self.folder / 'missing', self.folder / 'out', '--shard-size', '0',
                   saying='not a size')

    def test_lists_of_nothing(self):
        self.fails('pack', self.make('a.csv', b''), self.folder / 'out',
                   saying=['a.csv: lists no files', 'a header'])
        self.fails('pack', self.make('b.csv', b'path\nnone.jpg\n'), self.folder / 'out',
                   saying=['b.csv:2: none.jpg: cannot open'])

    def test_records_that_are_no_examples(self):
        shard = self.make('a.tfrecord', frame(b'\x0a\x01\x0a') + frame(b'\x0a\x04\x0a\x7f'))
        for flag in '--json', '--text', None:
            words = ['cat', shard, '--record', '1'] + ([flag] if flag else [])
            self.fails(*words, saying=[f'{shard}: record 1 of the split all, byte 2 in it',
                                       'not a tf.train.Example'])
        for _ in range(2):  # without and with an index
            self.assertEqual(self.json('ls', shard)['splits']['all']['records'], 2)
            self.run_recpack('index', shard)


if __name__ == '__main__':
    unittest.main()
