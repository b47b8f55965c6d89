"""A packer that is killed at random moments, again and again, ends with the same bytes."""
import os
import random
import signal
import subprocess
import time
import unittest

from support import RECPACK, CliTest

KILLS = 60


class Kill(CliTest):
    def kill_until_done(self, flags):
        photos = self.folder / 'photos'
        words = [RECPACK, 'pack', photos, self.folder / 'out', '--shard-size', '60kB', *flags]
        started = time.time()
        subprocess.run([*words[:3], self.folder / 'whole', *words[4:]], check=True,
                       stdout=subprocess.DEVNULL)
        whole = time.time() - started
        chance = random.Random(11)
        kills = 0
        while True:
            packer = subprocess.Popen(words, stdout=subprocess.DEVNULL)
            try:
                # Mostly early, so that many kills fit in; now and then anywhere.
                packer.wait(chance.uniform(0, whole / (1 if kills % 8 == 7 else 10)))
            except subprocess.TimeoutExpired:
                packer.send_signal(signal.SIGKILL)
                packer.wait()
                kills += 1
            else:
                self.assertEqual(packer.returncode, 0)
                if kills >= KILLS // 2:
                    break
                # Done too soon: take a few shards away, as if they had never been.
                for name in sorted(os.listdir(self.folder / 'out'))[::3]:
                    path = self.folder / 'out' / name
                    if path.is_file():
                        path.unlink()
            if kills >= 5 * KILLS:
                break
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)  # finds all complete
        self.equal_shards(self.shards(), self.shards('whole'))
        self.assertEqual([n for n in os.listdir(self.folder / 'out/.recpack') if '.tmp' in n], [])
        self.run_recpack('verify', self.folder / 'out')
        return kills

    def test_killed_again_and_again(self):
        self.class_folder(files=3000)
        kills = self.kill_until_done([]) + self.kill_until_done_with_gzip()
        self.assertGreaterEqual(kills, 50)

    def kill_until_done_with_gzip(self):
        for name in 'out', 'whole':
            os.rename(self.folder / name, self.folder / (name + '-plain'))
        return self.kill_until_done(['--compression', 'gzip', '--level', '1'])


if __name__ == '__main__':
    unittest.main()
