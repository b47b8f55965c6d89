"""`rectrain train` and PyTorch, fed by recpack_io: the same start and batches, the same losses.

RECTRAIN names the program.
"""
import json
import os
import pathlib
import subprocess
import sys

import recpack_io
import torch
from recpack_io.torch import Loader
from safetensors.torch import load_file
from support import CIFAR, ROOT, InFolder, main, pack

sys.path[:0] = [str(ROOT / 'tools'), str(ROOT / 'bench' / 'train')]
import torch_accuracy  # noqa: E402
from resnet_torch import ResNet18  # noqa: E402

RECTRAIN = os.environ.get('RECTRAIN', str(ROOT / 'build/release/tools/rectrain/rectrain'))
WIDTH, BATCH, EPOCHS, SEED = 8, 8, 2, 3
# Rounding grows from step to step, and the faster the higher the rate: at 0.01 PyTorch's own losses by
# one thread and by two differ by 4e-3 in the second epoch, at 0.001 by 1.5e-4.
RATE, TOLERANCE = 0.001, 1e-3


def rectrain(*words) -> list[dict]:
    done = subprocess.run([RECTRAIN, 'train', *map(str, words), '--width', str(WIDTH), '--batch-size',
                           str(BATCH), '--seed', str(SEED), '--warmup-epochs', '1', '--no-evaluation', '--json'],
                          check=False, capture_output=True, text=True,
                          env={**os.environ, 'OMP_WAIT_POLICY': 'passive'})
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)['epochs']


class SameTraining(InFolder):
    def losses_of_torch(self, start: pathlib.Path) -> list[float]:
        """The mean of each epoch, of a training that begins with these weights."""
        arrays = load_file(start)
        model = ResNet18(WIDTH, 10)
        model.load_state_dict({name: arrays.get(name, array) for name, array in
                               model.state_dict().items()})
        model.train()
        optimizer = torch.optim.SGD(torch_accuracy.groups(model), lr=1, momentum=torch_accuracy.MOMENTUM)
        loader = Loader(recpack_io.open(self.folder / 'shards', split='train'), 'cifar10-train',
                        batch_size=BATCH, seed=SEED)
        steps, warmup = EPOCHS * len(loader), len(loader)
        means, step = [], 0
        for _ in range(EPOCHS):
            losses = []
            for batch in loader:
                for group in optimizer.param_groups:
                    group['lr'] = RATE / torch_accuracy.RATE * torch_accuracy.rate(step, steps, warmup)
                loss = torch.nn.functional.cross_entropy(model(batch['image']), batch['label'].flatten())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
                step += 1
            means.append(sum(losses) / len(losses))
        return means

    def test_losses_of_a_training(self):
        pack(CIFAR, self.folder / 'shards')
        # At no rate to speak of, the checkpoint behind a step has the weights before it.
        rectrain(self.folder / 'shards', '--max-steps', 1, '--lr', 1e-30, '--checkpoints',
                 self.folder / 'start')
        theirs = self.losses_of_torch(next((self.folder / 'start').glob('*.safetensors')))
        ours = [epoch['train']['loss'] for epoch in rectrain(self.folder / 'shards', '--epochs', EPOCHS, '--lr', RATE)]
        self.assertEqual(len(ours), len(theirs))
        for epoch, (mine, other) in enumerate(zip(ours, theirs)):
            self.assertLess(abs(mine - other), TOLERANCE * other, f'epoch {epoch}: {ours}, {theirs}')


if __name__ == '__main__':
    main()
