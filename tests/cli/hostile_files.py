"""Files that nobody should have, and somebody does, and what a program must not do on them: no signal, no
hang, no words of a library, no success with less than the data."""
import os
import re
import shutil
import socket
import struct
import subprocess
import zlib

from launching import clean_environment
from support import DONE, FAILURE, FINDING, GOLDEN, CliTest

SECONDS = 10 * int(os.environ.get('RECPACK_SLOWER', '1'))  # sanitizers
KINDS = ('fifo', 'socket', 'zero', 'null', 'loop')  # of files that are none
LIBRARIES = ('json.exception', 'terminate called', 'Sanitizer', 'std::', 'basic_string', 'filesystem error')
MISUSE = ('not expected', 'Run with --help')  # the test's fault: nothing was tried
# An allocation beyond all memory fails under ASan, too, as it does without; ASan says so.
ALLOCATOR = {'ASAN_OPTIONS': 'allocator_may_return_null=1'}
NO_MEMORY = re.compile(r'==\d+==WARNING: AddressSanitizer failed to allocate .*\n')
DEEP = 100_000
DEEP_TEXTS = {'deep': '[' * DEEP, 'deep and closed': '[' * DEEP + ']' * DEEP,
              'deep objects': '{"a":' * DEEP + '1' + '}' * DEEP}


def png(width, height, depth, colour, rows, palette=None, clear=None):
    """A PNG of rows that are packed already."""
    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    body = chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, depth, colour, 0, 0, 0))
    if palette:
        body += chunk(b'PLTE', palette)
    if clear:
        body += chunk(b'tRNS', clear)
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
        for i in range(7):  # with one more, whole batches
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

    def outcome(self, program, *words, seconds=SECONDS, env=None):
        """What it did, or None if it hangs."""
        try:
            return subprocess.run([program, *map(str, words)], capture_output=True, cwd=self.folder,
                                  stdin=subprocess.DEVNULL, timeout=seconds,
                                  env={**clean_environment(), **ALLOCATOR, **(env or {})})
        except subprocess.TimeoutExpired:
            return None

    def judge(self, done, vouches):
        """`vouches`: exit code 0 would say that all is there, and it is not."""
        if done is None:
            self.fail('hangs')
        said = NO_MEMORY.sub('', (done.stdout + done.stderr).decode(errors='replace'))
        self.assertIn(done.returncode, (DONE, FINDING, FAILURE), said[-2000:])
        for word in (*LIBRARIES, *MISUSE):
            self.assertNotIn(word, said)
        if done.returncode == FAILURE:
            self.assertTrue(done.stderr.strip())
        if vouches:
            self.assertNotEqual(done.returncode, DONE, said[-500:])
        return done

    def hold(self, program, *words, vouches, **options):
        """Runs and judges it."""
        return self.judge(self.outcome(program, *words, **options), vouches)
