"""A stand-in for torch.cuda's streams on the host: what a stream is given is done late.

Work waits in its stream until somebody waits for it, or until an event behind it was asked for
often enough. A copy keeps its source no more than a GPU does: it reads what lies there when it is
done. As far as recpack_io.torch uses torch.cuda.
"""
import contextlib
import ctypes
from collections import deque
from types import SimpleNamespace
from unittest import mock

import torch

NEVER_SEEN = 77  # what a tensor holds until it was copied to


class Event:
    def __init__(self, stream):
        self.stream, self.done, self.asked = stream, False, 0

    def query(self):
        self.asked += 1
        if self.asked > self.stream.patience:
            self.synchronize()
        return self.done

    def synchronize(self):
        while not self.done:
            self.stream.step()


class Stream:
    """In order; `patience`: how often an event is asked for before its work is done."""

    def __init__(self, device=None, patience=3):
        self.work, self.patience = deque(), patience

    def step(self):
        self.work.popleft()()

    def synchronize(self):
        while self.work:
            self.step()

    def record_event(self):
        event = Event(self)
        self.work.append(lambda: setattr(event, 'done', True))
        return event

    def wait_event(self, event):
        self.work.append(event.synchronize)


class Cuda:
    """One device. `locked`: page-locked memory, bytes by address; `faults`: what a GPU would suffer
    from; `told`: (address, stream) of each record_stream()."""

    def __init__(self, patience=3, refuses_locks=False):
        self.current, self.patience = Stream(patience=patience), patience
        self.refuses_locks = refuses_locks
        self.locked, self.on_device = {}, set()
        self.reading, self.faults, self.told, self.copies = [], [], [], 0

    def is_locked(self, begin, nbytes):
        return any(at <= begin and begin + nbytes <= at + size for at, size in self.locked.items())

    def register(self, begin, nbytes, flags):
        if self.refuses_locks:
            return 2
        if any(begin < at + size and at < begin + nbytes for at, size in self.locked.items()):
            self.faults.append('locked twice')
        self.locked[begin] = nbytes
        return 0

    def unregister(self, begin):
        size = self.locked.pop(begin, None)
        if size is None or any(begin <= at < begin + size for at in self.reading):
            self.faults.append('unlocked while it is read' if size else 'was not locked')
        return 0

    @contextlib.contextmanager
    def stream(self, stream):
        before, self.current = self.current, stream
        try:
            yield
        finally:
            self.current = before

    def copy(self, tensor, device, non_blocking=False):
        there = torch.full_like(tensor, NEVER_SEEN)
        self.on_device.add(there.data_ptr())
        begin, nbytes = tensor.data_ptr(), tensor.nbytes
        if not self.is_locked(begin, nbytes):
            self.faults.append('copied from memory that is not locked')
        self.reading.append(begin)

        def work():
            ctypes.memmove(there.data_ptr(), begin, nbytes)
            self.reading.remove(begin)
            self.copies += 1
        self.current.work.append(work)
        return there

    def record_stream(self, tensor, stream):
        self.told.append((tensor.data_ptr(), stream))

    @contextlib.contextmanager
    def in_place(self):
        """torch.cuda is this machine within."""
        cudart = SimpleNamespace(cudaHostRegister=self.register, cudaHostUnregister=self.unregister)
        of_cuda = {'cudart': lambda: cudart, 'stream': self.stream, 'current_device': lambda: 0,
                   'is_available': lambda: True,
                   'current_stream': lambda device=None: self.current,
                   'Stream': lambda device=None: Stream(device, self.patience)}
        of_tensors = {'to': lambda *given, **options: self.copy(*given, **options),
                      'record_stream': lambda *given: self.record_stream(*given),
                      'is_cuda': property(lambda tensor: tensor.data_ptr() in self.on_device)}
        with contextlib.ExitStack() as stack:
            for owner, stand_ins in (torch.cuda, of_cuda), (torch.Tensor, of_tensors):
                for name, stand_in in stand_ins.items():
                    stack.enter_context(mock.patch.object(owner, name, stand_in))
            yield self
