"""Runs a program's commands on hostile shards, and on hostile sources of shards."""
import json
import shutil
from concurrent.futures import ThreadPoolExecutor

from hostile_files import DEEP, DEEP_TEXTS, KINDS, HostileFiles, png
from support import DONE, GOLDEN
from tar_files import write_tar


class HostileShards(HostileFiles):
    """Under each of commands(data): a name, the words behind the program's name, and whether its exit
    code 0 says that all of the data is there."""
    program = ''
    at_once = 1  # commands

    def commands(self, data):
        raise NotImplementedError

    def delivered(self, done):
        """The number of records that a command with exit code 0 says it had; None if it says none."""
        return None

    def tells(self, done):
        """Whether it says that there is something wrong with the data."""
        return bool(done.stderr.strip())

    def outcomes(self, data):
        """(name, whether it vouches, what was done) of each command."""
        shutil.rmtree(self.folder / 'made', ignore_errors=True)
        rows = list(self.commands(self.folder / data))
        with ThreadPoolExecutor(self.at_once) as pool:
            done = pool.map(lambda row: self.outcome(self.program, *row[1]), rows)
            return [(name, vouches, one) for (name, _, vouches), one in zip(rows, done)]

    def reference(self, data):
        """What each command delivers of data that are as they should be; it has to accept them."""
        delivered = {}
        for name, _, done in self.outcomes(data):
            with self.subTest(data=data, command=name):
                self.judge(done, vouches=False)
                self.assertEqual(done.returncode, DONE, done.stderr)
                delivered[name] = self.delivered(done)
        return delivered

    def attack(self, data, whole=(), reference=None):
        """Runs all commands on it. `whole`: names of those that may succeed though they vouch
        for the data, or True. `reference`: records of the untouched data, by command: one that succeeds
        delivers as many, or tells."""
        for name, vouches, done in self.outcomes(data):
            with self.subTest(data=data, command=name):
                self.judge(done, vouches and whole is not True and name not in whole)
                if reference and name in reference and done.returncode == DONE:
                    if self.delivered(done) != reference[name]:
                        self.assertTrue(self.tells(done), f'{self.delivered(done)} of {reference[name]}')

    def test_the_data_as_it_should_be(self):
        self.shards_at('untouched')
        self.assertTrue(self.reference('untouched'))

    def test_special_files_in_the_place_of_shards(self):
        self.pack_good()
        reference = self.reference('good')
        for kind in KINDS:
            for name in 'train-00000-of-00001.tfrecord', 'manifest.json', 'train.recindex':
                data = f'{kind}-{name}'
                self.special(f'{self.shards_at(data)}/{name}', kind)
                # Without an index all is read all the same.
                self.attack(data, True if name.endswith('recindex') else (), reference)

    def test_shards_that_are_not_what_they_were(self):
        self.pack_good()
        reference = self.reference('good')
        for name, change in (('emptied', lambda data: b''), ('cut', lambda data: data[:-100]),
                             ('cut at a record', lambda data: data[:16 + int.from_bytes(data[:8], 'little')]),
                             ('text', lambda data: b'hello'), ('longer', lambda data: data + data)):
            shard = self.shards_at(name) / 'train-00000-of-00001.tfrecord'
            shard.write_bytes(change(shard.read_bytes()))
            self.attack(name, reference=reference)
            # Nothing but the index knows how many there were, and these two do not ask it.
            (self.folder / name / 'manifest.json').unlink()
            shutil.rmtree(self.folder / name / '.recpack')
            known = {of: count for of, count in reference.items() if of not in ('index', 'ls --classes')}
            self.attack(name, reference=known)

    def test_manifests(self):
        good = json.loads((self.shards_at('manifest') / 'manifest.json').read_text())
        reference = self.reference('good')
        shard = good['splits']['train']['shards'][0]
        for name, text in {
                **DEEP_TEXTS, 'deep member': json.dumps(good)[:-1] + ',"x":' + '{"a":' * DEEP + '1' + '}' * DEEP + '}',
                'empty': '', 'text': 'hello', 'number': '1', 'list': '[]', 'nothing': '{}',
                'splits are text': json.dumps({**good, 'splits': 'all'}),
                'splits are a list': json.dumps({**good, 'splits': []}),
                'a shard is a number': json.dumps({**good, 'splits': {'train': {'shards': [1]}}}),
                'a file is a number': json.dumps({**good, 'splits': {'train': {
                    'shards': [{**shard, 'file': 3}]}}}),
                'records are text': json.dumps({**good, 'splits': {'train': {
                    'shards': [{**shard, 'records': 'six'}]}}}),
                'records are less than none': json.dumps({**good, 'splits': {'train': {
                    'shards': [{**shard, 'records': -6}]}}}),
                'version is text': json.dumps({**good, 'version': 'one'}),
                'schema is a list': json.dumps({**good, 'schema': []}),
                'class names are numbers': json.dumps({**good, 'class_names': [1, 2]}),
        }.items():
            (self.folder / 'manifest/manifest.json').write_text(text)
            with self.subTest(name):
                self.attack('manifest', reference=reference)


class HostileData(HostileShards):
    """And what shards are made of."""

    def reference_of_pictures(self):
        """Records of photos() with one more, by command; None: they are not of the kind that the commands read."""
        return None

    def test_special_files_in_the_place_of_sources(self):
        for kind in KINDS:
            for name in 'one.jsonl', 'one.csv', 'one.tar', 'one.tfrecord', 'data_batch_1', 'folder/a/1.jpg':
                self.special(f'{kind}/{name}', kind)
                self.attack(f'{kind}/{name}', whole=True if kind == 'null' else ())
            self.attack(f'{kind}/folder', whole=True)

    def test_pictures_that_are_none(self):
        files = {
            'text': b'hello, I am no picture', 'array': b'\x93NUMPY\x01\x00' + bytes(200), 'empty': b'',
            'gif': b'GIF89a\x05\x00\x05\x00\x80\x00\x00' + bytes(40), 'bmp': b'BM' + bytes(60),
            'webp': b'RIFF\x20\x00\x00\x00WEBPVP8 ' + bytes(30),
            'jpeg header': b'\xff\xd8\xff', 'png header': b'\x89PNG\r\n\x1a\n', 'heic': b'\0\0\0\x18ftypheic' + bytes(30),
            'tiff': b'II*\0\x08\0\0\0' + bytes(30), 'avif': b'\0\0\0\x20ftypavif' + bytes(30),
            'html': b'<!DOCTYPE html><html>404</html>',
            'cut jpeg': (GOLDEN / 'image/real_420.jpg').read_bytes()[:400],
            'no rows': png(0, 0, 8, 2, []), 'three bits': png(8, 8, 3, 0, [bytes(3)] * 8),
        }
        no_images = 'text', 'array', 'heic', 'html'
        reference = self.reference_of_pictures()
        for name, content in files.items():
            self.photos(name)
            self.write(f'{name}/train/a/x.jpg', content)
            with self.subTest(name):
                # Folders are packed as they are; what cannot be decoded is told by --check-images,
                # verify --decode and the recipes.
                self.attack(name, ('ls', 'verify', 'repair'), reference)
                out = self.folder / 'packed'
                shutil.rmtree(out, ignore_errors=True)
                if name not in (*no_images, 'gif', 'webp', 'cut jpeg', 'three bits'):
                    self.fails('pack', self.folder / name, out, '--no-sync', saying='x.jpg')
                    continue
                done = self.run_recpack('pack', self.folder / name, out, '--no-sync')
                if name in no_images:
                    self.assertIn('not images', done.stdout + done.stderr)
                    self.assertIn('x.jpg', done.stdout + done.stderr)
                self.attack('packed', ('ls', 'verify', 'repair', 'pack tfrecord'), reference)

    def test_lists(self):
        good = '{"text": "a", "label": 1}\n'
        for name, text in {
                'deep': good + '{"text": ' + '[' * DEEP + ']' * DEEP + '}\n',
                'deep object': good + '{"text": ' + '{"a":' * DEEP + '1' + '}' * DEEP + '}\n',
                'deep and open': good + '[' * DEEP, 'cut': good + '{"text": "a',
                'wide': good + json.dumps({str(i): i for i in range(100_000)}) + '\n',
                'zero bytes': good + '\0\0\0', 'no object': good + '3\n'}.items():
            self.write('list.jsonl', text)
            with self.subTest(name):
                self.attack('list.jsonl', whole=True if name == 'wide' else ())
        self.write('list.csv', 'text,label\n"a,1\n')
        self.attack('list.csv')
        self.write('splits.csv', 'text,split\n' + ''.join(f'a,s{i}\n' for i in range(100_000)))
        self.attack('splits.csv', whole=True)

    def test_tars(self):
        write_tar(self.path('extensions.tar'), ((f'sample.x{i}', b'') for i in range(20_000)))
        self.attack('extensions.tar', whole=True)
        write_tar(self.path('samples.tar'), ((f's{i}.x{i}', b'1') for i in range(20_000)))
        self.attack('samples.tar', whole=True)
        self.write('cut.tar', (self.folder / 'samples.tar').read_bytes()[:5000])
        self.attack('cut.tar')
