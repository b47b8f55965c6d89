"""A Grain pipeline whose map transformation is slow, on Grain's threads.

environment: streams; cause: user function
"""
import grain.python as grain
import numpy
import torch


class Augment(grain.MapTransform):
    def map(self, number):
        noise = numpy.random.normal(size=600_000)  # planted
        return noise[:512].astype(numpy.float32), number % 10


def main():
    data = grain.MapDataset.range(960).map(Augment()).batch(8)
    model = torch.nn.Linear(512, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for row, label in data.to_iter_dataset(grain.ReadOptions(num_threads=2, prefetch_buffer_size=4)):
        loss = torch.nn.functional.cross_entropy(model(torch.from_numpy(row)), torch.from_numpy(label))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == '__main__':
    main()
