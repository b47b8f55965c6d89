"""A loader needs nothing of /dev/shm: it works where that is full, or not there."""
import shutil
import subprocess
import unittest

from support import CIFAR, RECPACK, CliTest

FULL = 'mount -t tmpfs -o size=4096 none /dev/shm && head -c 8192 /dev/zero >/dev/shm/full'
ABSENT = 'mount --bind "$0" /dev && ! test -e /dev/shm'


def namespace():
    """A command that runs a script with mounts of its own, or None where nobody may."""
    for flags in ['-m'], ['-r', '-m']:
        command = ['unshare', *flags, 'sh', '-c']
        if shutil.which('unshare') and subprocess.run(
                [*command, 'mount -t tmpfs none /dev/shm'], capture_output=True).returncode == 0:
            return command
    return None


class SharedMemory(CliTest):
    def test_full_or_absent(self):
        command = namespace()
        if command is None:
            self.skipTest('mounts of its own are not permitted here')
        self.pack(CIFAR / 'cifar-10-batches-py')
        batches = [RECPACK, 'batches', str(self.folder / 'out'), '--recipe', 'cifar10-train',
                   '--batch-size', '16', '--threads', '3', '--limit', '40', '--order', 'global']
        expected = self.run_recpack(*batches[1:]).stdout
        empty = self.folder / 'empty'
        empty.mkdir()
        # `full` ends with an error of head: the file system is full then.
        for prepare in f'{FULL}; test "$(df --output=avail /dev/shm | tail -1)" -eq 0', ABSENT:
            done = subprocess.run([*command, f'({prepare}) 2>/dev/null || exit 77; exec "$@"',
                                   str(empty), *batches], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, expected), done.stderr)


if __name__ == '__main__':
    unittest.main()
