"""The programs that the wheel brings: recpack and recprobe."""
import json
import pathlib
import subprocess
import sys

from support import CIFAR, InFolder, main

PROGRAMS = pathlib.Path(sys.executable).parent


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False)


class Programs(InFolder):
    def test_recpack_packs(self):
        done = run(PROGRAMS / 'recpack', 'pack', CIFAR, self.folder / 'shards', '--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(run(PROGRAMS / 'recpack', 'verify', self.folder / 'shards').returncode, 0)
        self.assertEqual(run(PROGRAMS / 'recpack', 'verify', self.folder / 'no').returncode, 2)

    def test_recprobe_watches_a_loop_in_python(self):
        run(PROGRAMS / 'recpack', 'pack', CIFAR, self.folder / 'shards')
        loop = ('import recpack_io, time\n'
                f'loader = recpack_io.Loader(recpack_io.open({str(self.folder / "shards")!r}), '
                '"cifar10-train", batch_size=4)\n'
                'for _ in range(4):\n    for batch in loader:\n        time.sleep(0.01)\n')
        done = run(PROGRAMS / 'recprobe', 'run', '--json', '--', sys.executable, '-c', loop)
        self.assertEqual(done.returncode, 0, done.stderr)
        verdict = json.loads(done.stdout)
        self.assertGreater(verdict['steps'], 10, verdict)
        self.assertEqual(verdict['verdict'], 'not input-bound', verdict)


if __name__ == '__main__':
    main()
