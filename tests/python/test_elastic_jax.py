"""examples/python/elastic_jax.py: a process is killed, and fewer or more go on; each sample comes once an epoch."""
import os
import re
import subprocess
import sys
import time

from support import ROOT, InFolder, free_port, main, pack


class ElasticJax(InFolder):
    def setUp(self):
        super().setUp()
        subprocess.run([os.environ['RECPACK'], 'stand-in', self.folder / 'cifar', '--rows', '300'], check=True,
                       stdout=subprocess.DEVNULL)
        pack(self.folder / 'cifar', self.folder / 'shards')

    def start(self, processes, epochs, checkpoint='checkpoint'):
        coordinator = f'localhost:{free_port()}'
        started = [subprocess.Popen(
            [sys.executable, '-B', ROOT / 'examples/python/elastic_jax.py', self.folder / 'shards', '--checkpoint',
             self.folder / checkpoint, '--global-batch', '60', '--save-every', '5', '--epochs', str(epochs),
             '--coordinator', coordinator, '--processes', str(processes), '--process', str(process)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | {'JAX_PLATFORMS': 'cpu'})
            for process in range(processes)]
        self.addCleanup(self.end, started)
        return started

    def end(self, started):
        for process in started:
            process.kill()
            process.wait()
            process.stdout.close()

    def ends(self, started):
        """What a training reports of its epochs: epoch, processes, samples, of how many, each once, loss."""
        outs = [process.communicate(timeout=300)[0] for process in started]
        for process, out in zip(started, outs):
            self.assertEqual(process.returncode, 0, out[-3000:])
        return re.findall(r'epoch (\d+): (\d+) processes at its end, (\d+) of (\d+) samples, each once: (\w+), loss (\S+)',
                          outs[0])

    def test_a_process_dies_and_fewer_or_more_go_on(self):
        whole = self.ends(self.start(1, epochs=2, checkpoint='whole'))
        self.assertEqual([end[:5] for end in whole], [('0', '1', '1200', '1200', 'True'), ('1', '1', '1200', '1200', 'True')])
        started = self.start(2, epochs=1)
        while not (self.folder / 'checkpoint').exists():
            self.assertIsNone(started[1].poll())
            time.sleep(0.02)
        started[1].kill()
        self.end(started)  # as Slurm does when one is lost
        for processes, epochs in (1, 1), (3, 2):
            ends = self.ends(self.start(processes, epochs))
            self.assertEqual([end[:5] for end in ends], [(str(epoch), str(processes), '1200', '1200', 'True')
                                                         for epoch in range(epochs)])
            for end, expected in zip(ends, whole):
                if end[5] != 'nan':  # the last checkpoint was of the end of the epoch
                    self.assertAlmostEqual(float(end[5]), float(expected[5]), delta=0.002)


if __name__ == '__main__':
    main()
