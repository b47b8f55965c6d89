"""Trains on two processes with DistributedDataParallel: torchrun --nproc-per-node 2 distributed.py"""
import recpack_io
import torch
from recpack_io.torch import Loader
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

distributed.init_process_group("gloo")
loader = Loader("shards", "cifar10-train", batch_size=8, seed=1)  # finds rank and world size
model = DistributedDataParallel(torch.nn.Linear(3072, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for epoch in range(2):
    for images, labels in loader:
        loss = torch.nn.functional.cross_entropy(model(images.flatten(1)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    audits = [None] * distributed.get_world_size()
    distributed.all_gather_object(audits, str(loader.audit()))
    if distributed.get_rank() == 0:
        merged = recpack_io.Audit.parse(audits[0])
        for each in audits[1:]:
            merged.merge(recpack_io.Audit.parse(each))
        print(f"epoch {epoch}: {merged.check(loader.dataset).samples} samples on {len(audits)} ranks")
distributed.destroy_process_group()
