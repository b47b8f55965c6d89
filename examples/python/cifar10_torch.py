"""Trains a small convolutional network on CIFAR-10 with PyTorch.

    recpack pack cifar-10-python.tar.gz shards
    python cifar10_torch.py shards --device cuda:0

Killed at any time, it goes on behind its last checkpoint, and ends as if it had not been.
"""
import argparse
import os
import pathlib

import recpack_io
import torch
from recpack_io.torch import Loader
from torch import nn
from torch.nn.functional import cross_entropy


def block(channels_in, channels_out):
    return [nn.Conv2d(channels_in, channels_out, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels_out), nn.ReLU(), nn.MaxPool2d(2)]


def accuracy(model, loader):
    model.eval()
    right = seen = 0
    with torch.no_grad():
        for batch in loader:
            right += (model(batch['image']).argmax(1) == batch['label']).sum().item()
            seen += len(batch['label'])
    model.train()
    return right / seen


def main():
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument('shards')
    flags.add_argument('--device', default='cpu')
    flags.add_argument('--epochs', type=int, default=10)
    flags.add_argument('--batch-size', type=int, default=128)
    flags.add_argument('--checkpoint', type=pathlib.Path, default='cifar10_torch.pt')
    flags.add_argument('--save-every', type=int, default=100, help='steps')
    given = flags.parse_args()

    torch.manual_seed(1)
    model = nn.Sequential(*block(3, 32), *block(32, 64), *block(64, 128),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10)).to(given.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    train = Loader(recpack_io.open(given.shards), 'cifar10-train', batch_size=given.batch_size,
                   seed=1, device=given.device)
    held_out = Loader(recpack_io.open(given.shards, split='eval'), 'cifar10-eval',
                      batch_size=given.batch_size, last_batch='keep', device=given.device)
    parts = {'model': model, 'optimizer': optimizer, 'loader': train}
    epoch = step = 0
    if given.checkpoint.exists():
        saved = torch.load(given.checkpoint, map_location=given.device)
        for name, part in parts.items():
            part.load_state_dict(saved[name])
        epoch, step = saved['epoch'], saved['step']
        print(f'goes on behind step {step}', flush=True)

    for epoch in range(epoch, given.epochs):
        train.set_epoch(epoch)
        for batch in train:
            loss = cross_entropy(model(batch['image']), batch['label'])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % given.save_every == 0 and not recpack_io.is_gain_run():
                print(f'epoch {epoch} step {step} loss {loss.item():.6f}', flush=True)
                states = {name: part.state_dict() for name, part in parts.items()}
                torch.save(states | {'epoch': epoch, 'step': step}, f'{given.checkpoint}.part')
                os.replace(f'{given.checkpoint}.part', given.checkpoint)
        print(f'epoch {epoch} accuracy {accuracy(model, held_out):.2%}', flush=True)


if __name__ == '__main__':
    main()
