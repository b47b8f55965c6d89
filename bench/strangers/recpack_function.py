"""Reads by our own loader, whose threads call a slow function of the program for each sample.

environment: vision; cause: user function
"""
import tempfile

import numpy
import recpack_io
import torch


def augment(sample):
    noise = numpy.random.normal(size=600_000)  # planted
    return {'row': noise[:512].astype('float32') + sample['x'][0]}


def main():
    path = tempfile.mkdtemp() + '/train-00000-of-00001.tfrecord'
    with recpack_io.Writer(path) as writer:
        for number in range(800):
            writer.write({'x': numpy.array([number], 'float32'), 'label': number % 10})
    fields = [recpack_io.Numbers('label'), recpack_io.Function(augment, {'row': ('float32', 512)})]
    loader = recpack_io.Loader(recpack_io.open(path), fields=fields, batch_size=8, threads=2)
    model = torch.nn.Linear(512, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for batch in loader:
        scores = model(torch.from_numpy(batch['row'].copy()))
        loss = torch.nn.functional.cross_entropy(scores, torch.from_numpy(batch['label'].copy()).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == '__main__':
    main()
