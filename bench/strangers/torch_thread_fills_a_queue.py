"""A thread of the program makes batches and hands them over in a queue.

environment: vision; cause: user function
"""
import queue
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset
def produce(out, count):
    for number in range(count):
        time.sleep(0.06)  # planted
        out.put((torch.rand(8, 3, 32, 32), torch.full((8,), number % 10)))
    out.put(None)


def batches(count):
    ready = queue.Queue(4)
    threading.Thread(target=produce, args=(ready, count), daemon=True).start()
    return iter(ready.get, None)

def main():
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()

    for epoch in range(1):
        for image, target in batches(120):
            loss = criterion(model(image), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == '__main__':
    main()
