"""Trains on two processes with DistributedDataParallel: torchrun --nproc-per-node 2 distributed.py"""
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler
from torchvision.datasets import CIFAR10
from torchvision.transforms import ToTensor

distributed.init_process_group("gloo")
dataset = CIFAR10("cifar", transform=ToTensor())
sampler = DistributedSampler(dataset, seed=1)
loader = DataLoader(dataset, batch_size=8, sampler=sampler)
model = DistributedDataParallel(torch.nn.Linear(3072, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for epoch in range(2):
    sampler.set_epoch(epoch)
    samples = torch.tensor(0)
    for images, labels in loader:
        loss = torch.nn.functional.cross_entropy(model(images.flatten(1)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        samples += len(labels)
    distributed.all_reduce(samples)
    if distributed.get_rank() == 0:
        print(f"epoch {epoch}: {samples} samples on {distributed.get_world_size()} ranks")
distributed.destroy_process_group()
