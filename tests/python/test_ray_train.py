"""examples/python/ray_train.py: workers are killed, and others go on; each sample comes once an epoch."""
import os
import re
import subprocess
import sys
import time

from ray_cluster import kill_one
from support import ROOT, InFolder, main, pack


class RayTrain(InFolder):
    def setUp(self):
        super().setUp()
        subprocess.run([os.environ['RECPACK'], 'stand-in', self.folder / 'cifar', '--rows', '300'], check=True,
                       stdout=subprocess.DEVNULL)
        pack(self.folder / 'cifar', self.folder / 'shards')

    def start(self, workers, epochs):
        return subprocess.Popen(
            [sys.executable, '-B', ROOT / 'examples/python/ray_train.py', self.folder / 'shards', '--storage',
             self.folder / 'storage', '--workers', str(workers), '--epochs', str(epochs), '--save-every', '5'],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, 'RAY_DEDUP_LOGS': '0'})

    def ends(self, process):
        """The ends of epochs that a training reports: epoch, workers, samples, of how many, each once."""
        out = process.communicate()[0]
        self.assertEqual(process.returncode, 0, out[-3000:])
        return set(re.findall(r'epoch (\d+): (\d+) workers at its end, (\d+) of (\d+) samples, each once: (\w+)', out))

    def wait_for_checkpoint(self, process):
        while not list(self.folder.glob('storage/recpack/checkpoint_*/state.pt')):
            self.assertIsNone(process.poll())
            time.sleep(0.05)

    def test_a_worker_dies_and_fewer_go_on(self):
        process = self.start(workers=2, epochs=1)
        self.wait_for_checkpoint(process)
        self.assertIsNotNone(kill_one('RayTrainWorker', 30))
        self.assertEqual(self.ends(process), {('0', '2', '1200', '1200', 'True')})
        # The last checkpoint is of the middle of the epoch.
        self.assertEqual(self.ends(self.start(workers=1, epochs=2)),
                         {('0', '1', '1200', '1200', 'True'), ('1', '1', '1200', '1200', 'True')})


if __name__ == '__main__':
    main()
