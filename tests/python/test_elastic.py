"""examples/python/elastic_torch.py on hosts that are lost and added: each sample once an epoch.

Hosts are network namespaces where this machine may make them, otherwise processes.
"""
import os
import signal
import subprocess
import time

import hosts
from elastic_job import Job
from support import InFolder, main, pack


class Elastic(InFolder):
    def setUp(self):
        super().setUp()
        subprocess.run([os.environ['RECPACK'], 'stand-in', self.folder / 'cifar', '--rows', '300'], check=True,
                       stdout=subprocess.DEVNULL)
        pack(self.folder / 'cifar', self.folder / 'shards')
        network = hosts.network()
        network.__enter__()
        self.addCleanup(network.__exit__)
        self.job = Job(network, self.folder / 'shards', self.folder, epochs=3, step_seconds=0.15)

    def wait_for_checkpoint(self, newer_than=0):
        self.assertTrue(self.job.wait_for_checkpoint(newer_than), 'no checkpoint came\n' + self.job.agents[0].log()[-3000:])
        return self.job.saved()

    def test_ranks_die_and_join(self):
        first, second = self.job.add(), self.job.add()
        then = self.wait_for_checkpoint(self.wait_for_checkpoint())
        second.kill()
        then = self.wait_for_checkpoint(self.wait_for_checkpoint(then))  # by the first alone
        third = self.job.add()
        while not third.ranks():
            time.sleep(0.1)
        then = self.wait_for_checkpoint(self.wait_for_checkpoint(then))
        os.kill(third.ranks()[0], signal.SIGKILL)
        deadline = time.monotonic() + 240
        while self.job.running():
            self.assertLess(time.monotonic(), deadline, first.log()[-3000:])
            time.sleep(0.1)
        self.assertEqual(first.process.returncode, 0, first.log()[-3000:])
        self.assertEqual({number for number, _ in self.job.epochs()}, {0, 1, 2})
        for number, said in self.job.epochs():
            self.assertIn('1200 of 1200 samples, each once: True', said, number)


if __name__ == '__main__':
    main()
