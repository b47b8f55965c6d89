"""A packer that is killed at random moments, again and again, ends with the same bytes."""
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from support import RECPACK, CliTest

KILLS = 60


class Kill(CliTest):
    def files(self, out):
        """Names of all files there are, those of recpack's own folder included."""
        return {str(p.relative_to(self.folder / out)) for p in (self.folder / out).rglob('*')}

    def take_shards_away(self):
        for name in sorted(os.listdir(self.folder / 'out'))[::3]:
            path = self.folder / 'out' / name
            if path.is_file():
                path.unlink()

    def kill_until_done(self, flags=(), tasks=('0/1',)):
        """Kills packers, a task after the other, until each was left to end; returns the kills."""
        words = ['pack', self.folder / 'photos', self.folder / 'out', '--shard-size', '60kB',
                 *flags]
        times = []
        for name in 'again', 'whole':  # one of them may be held up
            started = time.time()
            self.run_recpack(*words[:2], self.folder / name, *words[3:])
            times.append(time.time() - started)
        shutil.rmtree(self.folder / 'again')
        whole = min(times)
        chance = random.Random(11)
        kills = 0
        ended = set()
        for launch in range(8 * KILLS):
            task = tasks[launch % len(tasks)]
            packer = subprocess.Popen([RECPACK, *words, '--task', task], stdout=subprocess.DEVNULL)
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
                    ended.add(task)
                    if ended == set(tasks):
                        break
                else:
                    self.take_shards_away()
        for task in tasks:  # finds all complete
            self.run_recpack(*words, '--task', task)
        self.run_recpack('verify', self.folder / 'out')
        return kills

    def test_killed_again_and_again(self):
        self.class_folder(files=3000)
        kills = 0
        for flags in [], ['--compression', 'gzip', '--level', '1']:
            kills += self.kill_until_done(flags)
            self.equal_shards(self.shards(), self.shards('whole'))
            self.assertEqual(self.files('out'), self.files('whole'))
            for name in 'out', 'whole':
                os.rename(self.folder / name, self.folder / (name + str(len(flags))))
        self.assertGreaterEqual(kills, 50)

    def test_killed_while_threads_share_a_shard(self):
        self.class_folder(files=3000)
        words = ['--shards', '1', '--threads', '4']
        started = time.time()
        self.run_recpack('pack', self.folder / 'photos', self.folder / 'whole', *words)
        whole = time.time() - started
        chance = random.Random(12)
        words = ['pack', self.folder / 'photos', self.folder / 'out', *words]
        for _ in range(20):
            packer = subprocess.Popen([RECPACK, *words], stdout=subprocess.DEVNULL)
            try:
                packer.wait(chance.uniform(0, whole))
            except subprocess.TimeoutExpired:
                packer.send_signal(signal.SIGKILL)
                packer.wait()
        self.run_recpack(*words)
        self.equal_shards(self.shards(), self.shards('whole'))
        self.assertEqual(self.files('out'), self.files('whole'))

    def test_tasks_killed_again_and_again(self):
        self.class_folder(files=3000)
        kills = self.kill_until_done(tasks=('0/2', '1/2'))
        self.assertGreaterEqual(kills, KILLS // 2)
        self.equal_shards(self.shards(), self.shards('whole'), but=['manifest.json'])
        self.assertEqual(self.files('out') - self.files('whole'),
                         {f'.recpack/lock-{name}' for name in (0, 1, 'turn')})
        self.assertEqual(self.files('whole') - self.files('out'), set())


if __name__ == '__main__':
    unittest.main()
