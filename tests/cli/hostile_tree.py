"""Files that nobody should have, and somebody does: what the tests of each program run its commands on.
No signal, no hang, no words of a library, and no success with less than the data."""
import io
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import tarfile
import zlib

from launching import clean_environment
from support import DONE, FAILURE, FINDING, GOLDEN, CliTest

SECONDS = 10 * int(os.environ.get('RECPACK_SLOWER', '1'))  # sanitizers
KINDS = ('fifo', 'socket', 'zero', 'null', 'loop')  # of files that are none
LIBRARIES = ('json.exception', 'terminate called', 'Sanitizer', 'std::', 'basic_string', 'filesystem error')
# An allocation beyond all memory fails under ASan, too, as it does without; ASan says so.
ALLOCATOR = {'ASAN_OPTIONS': 'allocator_may_return_null=1'}
NO_MEMORY = re.compile(r'==\d+==WARNING: AddressSanitizer failed to allocate .*\n')
DEEP = 100_000
DEEP_TEXTS = {'deep': '[' * DEEP, 'deep and closed': '[' * DEEP + ']' * DEEP,
              'deep objects': '{"a":' * DEEP + '1' + '}' * DEEP}


def png(width, height, depth, colour, rows, palette=None):
    """A PNG of rows that are packed already."""
    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    body = chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, depth, colour, 0, 0, 0))
    if palette:
        body += chunk(b'PLTE', palette)
    body += chunk(b'IDAT', zlib.compress(b''.join(b'\0' + row for row in rows)))
    return b'\x89PNG\r\n\x1a\n' + body + chunk(b'IEND', b'')


class HostileFiles(CliTest):
    """Makes such files in self.folder, and runs commands on them."""

    def path(self, name):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, name, content):
        content = content.encode() if isinstance(content, str) else content
        self.path(name).write_bytes(content)

    def special(self, name, kind):
        path = self.path(name)
        path.unlink(missing_ok=True)
        if kind == 'fifo':
            os.mkfifo(path)
        elif kind == 'socket':
            one = socket.socket(socket.AF_UNIX)
            self.addCleanup(one.close)
            here = os.getcwd()
            os.chdir(path.parent)  # names of sockets are short
            one.bind(path.name)
            os.chdir(here)
        else:
            path.symlink_to({'zero': '/dev/zero', 'null': '/dev/null', 'loop': path.name}[kind])

    def photos(self, name):
        for i in range(6):
            self.path(f'{name}/train/{"ab"[i % 2]}/{i}.jpg').write_bytes(
                (GOLDEN / 'image/real_420.jpg').read_bytes())
        return self.folder / name

    def pack_good(self):
        self.pack(self.photos('photos'), out='good')

    def shards_at(self, name):
        if not (self.folder / 'good').exists():
            self.pack_good()
        shutil.copytree(self.folder / 'good', self.folder / name)
        return self.folder / name

    def hold(self, program, *words, vouches, seconds=SECONDS):
        """Runs it; `vouches`: exit code 0 would say that all is there, and it is not."""
        try:
            done = subprocess.run([program, *map(str, words)], capture_output=True, cwd=self.folder,
                                  stdin=subprocess.DEVNULL, timeout=seconds, env={**clean_environment(), **ALLOCATOR})
        except subprocess.TimeoutExpired:
            self.fail('hangs')
        said = NO_MEMORY.sub('', (done.stdout + done.stderr).decode(errors='replace'))
        self.assertIn(done.returncode, (DONE, FINDING, FAILURE), said[-2000:])
        for word in LIBRARIES:
            self.assertNotIn(word, said)
        if done.returncode == FAILURE:
            self.assertTrue(done.stderr.strip())
        if vouches:
            self.assertNotEqual(done.returncode, DONE, said[-500:])
        return done


class HostileData(HostileFiles):
    """Under each of commands(data): a name, the words behind the program's name, and whether its exit
    code 0 says that all of the data is there."""
    program = ''

    def commands(self, data):
        raise NotImplementedError

    def attack(self, data, whole=()):
        """Runs all commands on it. `whole`: names of those that may succeed though they vouch for
        the data, or True."""
        data = self.folder / data
        for name, words, vouches in self.commands(data):
            shutil.rmtree(self.folder / 'made', ignore_errors=True)
            with self.subTest(data=data.name, command=name):
                self.hold(self.program, *words,
                          vouches=vouches and whole is not True and name not in whole)

    def test_special_files_in_the_place_of_shards(self):
        for kind in KINDS:
            for name in 'train-00000-of-00001.tfrecord', 'manifest.json', 'train.recindex':
                data = f'{kind}-{name}'
                self.special(f'{self.shards_at(data)}/{name}', kind)
                # Without an index all is read all the same.
                self.attack(data, whole=True if name.endswith('recindex') else ())

    def test_special_files_in_the_place_of_sources(self):
        for kind in KINDS:
            for name in 'one.jsonl', 'one.csv', 'one.tar', 'one.tfrecord', 'data_batch_1', 'folder/a/1.jpg':
                self.special(f'{kind}/{name}', kind)
                self.attack(f'{kind}/{name}', whole=True if kind == 'null' else ())
            self.attack(f'{kind}/folder', whole=True)

    def test_shards_that_are_not_what_they_were(self):
        for name, change in (('emptied', lambda data: b''), ('cut', lambda data: data[:-100]),
                             ('cut at a record', lambda data: data[:16 + int.from_bytes(data[:8], 'little')]),
                             ('text', lambda data: b'hello'), ('longer', lambda data: data + data)):
            shard = self.shards_at(name) / 'train-00000-of-00001.tfrecord'
            shard.write_bytes(change(shard.read_bytes()))
            self.attack(name)
            (self.folder / name / 'manifest.json').unlink()
            shutil.rmtree(self.folder / name / '.recpack')
            self.attack(name)

    def test_manifests(self):
        good = json.loads((self.shards_at('manifest') / 'manifest.json').read_text())
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
                self.attack('manifest')

    def test_pictures_that_are_none(self):
        files = {
            'text': b'hello, I am no picture', 'array': b'\x93NUMPY\x01\x00' + bytes(200), 'empty': b'',
            'gif': b'GIF89a\x05\x00\x05\x00\x80\x00\x00' + bytes(40), 'bmp': b'BM' + bytes(60),
            'webp': b'RIFF\x20\x00\x00\x00WEBPVP8 ' + bytes(30),
            'jpeg header': b'\xff\xd8\xff', 'png header': b'\x89PNG\r\n\x1a\n', 'heic': b'\0\0\0\x18ftypheic' + bytes(30),
            'cut jpeg': (GOLDEN / 'image/real_420.jpg').read_bytes()[:400],
            'no rows': png(0, 0, 8, 2, []),
        }
        for name, content in files.items():
            self.photos(name)
            self.write(f'{name}/train/a/x.jpg', content)
            with self.subTest(name):
                # Folders are packed as they are; what cannot be decoded is told by --check-images,
                # verify --decode and the recipes. GIFs are images, of a format that is not decoded
                # here.
                others = ('verify --decode', 'pack --check') if name == 'gif' else ()
                self.attack(name, whole=('ls', 'verify', 'repair', *others))
                out = self.folder / 'packed'
                shutil.rmtree(out, ignore_errors=True)
                if name not in ('text', 'array', 'heic', 'gif', 'webp', 'cut jpeg'):
                    self.fails('pack', self.folder / name, out, '--no-sync', saying='x.jpg')
                    continue
                done = self.run_recpack('pack', self.folder / name, out, '--no-sync')
                if name in ('text', 'array', 'heic'):
                    self.assertIn('not images', done.stdout + done.stderr)
                    self.assertIn('x.jpg', done.stdout + done.stderr)
                self.attack('packed', whole=('ls', 'verify', 'repair', 'pack tfrecord', *others))

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
        def tar(name, members):
            with tarfile.open(self.path(name), 'w') as archive:
                for member, content in members:
                    info = tarfile.TarInfo(member)
                    info.size = len(content)
                    archive.addfile(info, io.BytesIO(content))
        tar('extensions.tar', ((f'sample.x{i}', b'') for i in range(20_000)))
        self.attack('extensions.tar', whole=True)
        tar('samples.tar', ((f's{i}.x{i}', b'1') for i in range(20_000)))
        self.attack('samples.tar', whole=True)
        self.write('cut.tar', (self.folder / 'samples.tar').read_bytes()[:5000])
        self.attack('cut.tar')
