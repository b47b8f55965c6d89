"""The example trainers of examples/python, killed and gone on, on the golden CIFAR-10.

RECPACK_ENVIRONMENT names the environment that runs this: `vision` has PyTorch's example, `jax`
JAX's.
"""
import os
import signal
import subprocess
import sys

from support import CIFAR, ROOT, InFolder, main, pack

EXAMPLE = {'vision': 'cifar10_torch.py', 'jax': 'cifar10_jax.py'}[os.environ['RECPACK_ENVIRONMENT']]


class Examples(InFolder):
    def setUp(self):
        super().setUp()
        pack(CIFAR, self.folder / 'shards')

    def start(self, checkpoint, shards='shards', epochs=2, batch_size=4, save_every=1):
        command = [sys.executable, '-u', ROOT / 'examples' / 'python' / EXAMPLE,
                   self.folder / shards, '--epochs', epochs, '--batch-size', batch_size,
                   '--save-every', save_every, '--checkpoint', self.folder / checkpoint]
        environment = os.environ | {'OMP_NUM_THREADS': '1', 'JAX_PLATFORMS': 'cpu',
                                    'XLA_FLAGS': '--xla_force_host_platform_device_count=2'}
        return subprocess.Popen(list(map(str, command)), env=environment, cwd=self.folder,
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(self, trainer):
        out, err = trainer.communicate(timeout=300)
        self.assertEqual(trainer.returncode, 0, err)
        return out.splitlines()

    def killed_behind(self, step, checkpoint):
        with self.start(checkpoint) as trainer:
            for line in trainer.stdout:
                if f' step {step} ' in line:
                    trainer.send_signal(signal.SIGKILL)
                    break
        self.assertEqual(trainer.returncode, -signal.SIGKILL)

    def test_learns(self):
        subprocess.run([os.environ['RECPACK'], 'stand-in', self.folder / 'cifar', '--rows', '1500'],
                       check=True, stdout=subprocess.DEVNULL)
        pack(self.folder / 'cifar', self.folder / 'many')
        lines = self.finish(self.start('learnt', 'many', 3, 100, 1000))
        accuracies = [float(line.split()[-1].rstrip('%')) for line in lines if 'accuracy' in line]
        self.assertEqual(len(accuracies), 3)
        self.assertGreaterEqual(accuracies[-1], 40)

    def test_killed_and_gone_on(self):
        whole = self.finish(self.start('whole'))
        losses = [line for line in whole if 'loss' in line]
        self.assertEqual(len([line for line in whole if 'accuracy' in line]), 2)
        self.assertGreater(len(losses), 12)
        for step in 2, len(losses) // 2:  # within an epoch, and at its end
            self.killed_behind(step, f'killed {step}')
            again = self.finish(self.start(f'killed {step}'))
            self.assertRegex(again[0], r'goes on behind step \d+')
            behind = int(again[0].split()[-1])
            self.assertIn(behind, range(step - 1, len(losses)))
            self.assertEqual([line for line in again if 'loss' in line], losses[behind:])
            self.assertEqual(again[-1], whole[-1])


if __name__ == '__main__':
    main()
