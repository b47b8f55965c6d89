"""Page-locked memory of batches for copies to GPUs, with PyTorch's CUDA."""
from __future__ import annotations

import os
from collections import deque

import torch

from recpack_io.errors import DeviceError

_PORTABLE = 1  # cudaHostRegisterPortable: page-locked for all devices


class HostMemory:
    """Tracks which slabs of a loader are page-locked, and which are still read by streams."""

    def __init__(self):
        self._locked: dict[int, int] = {}  # address: bytes
        self._read: deque = deque()  # (event after the read, batch), oldest first
        self._pid = os.getpid()

    def lock(self, tensors: list[torch.Tensor], samples: int, batch_size: int) -> None:
        """Page-locks the slab with these arrays of a batch, unless it is locked already.

        Args:
            tensors: Arrays of the batch with a row per sample.
            samples: Number of samples of the batch, which may be below the batch size.
            batch_size: Number of samples that the slab has room for.

        Raises:
            DeviceError: If the memory cannot be page-locked.
        """
        if samples == 0 or not tensors:
            return
        begin = min(tensor.data_ptr() for tensor in tensors)
        if begin in self._locked:
            return
        end = max(tensor.data_ptr() + tensor.nbytes // samples * batch_size for tensor in tensors)
        code = int(torch.cuda.cudart().cudaHostRegister(begin, end - begin, _PORTABLE))
        if code != 0:
            raise DeviceError(f'{end - begin} bytes of a batch cannot be page-locked (CUDA error '
                              f'{code}): raise `ulimit -l`, or give page_lock=False')
        self._locked[begin] = end - begin

    def keep(self, core, event: torch.cuda.Event) -> None:
        """Keeps the batch until the event is complete."""
        self._read.append((event, core))

    def let_go(self, most: int) -> None:
        """Releases batches that were read; waits for the oldest until at most `most` are kept."""
        self._read = deque(read for read in self._read if not read[0].query())
        while len(self._read) > most:
            self._read[0][0].synchronize()  # before the batch is released
            self._read.popleft()

    def close(self) -> None:
        """Waits for all reads and unlocks all slabs. Call this before the slabs are freed.

        Does nothing in a forked child, which has no CUDA: the locks belong to its parent.
        """
        if os.getpid() != self._pid:
            return
        self.let_go(0)
        while self._locked:
            begin, _ = self._locked.popitem()
            code = int(torch.cuda.cudart().cudaHostUnregister(begin))
            if code != 0:
                raise DeviceError(f'page-locked memory cannot be unlocked (CUDA error {code}): an '
                                  'earlier error of the device may be the cause')
