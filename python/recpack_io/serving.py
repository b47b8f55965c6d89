"""Serving: a worker process answers calls of functions, in memory shared with the loader."""
from __future__ import annotations

import contextlib
import mmap
import os
import pickle
import select
import signal
import socket
import struct
import sys
import traceback
import weakref

import numpy as np

from recpack_io import _core
from recpack_io.calling import BatchCaller, SampleCaller
from recpack_io.errors import InvalidArgumentError
from recpack_io.functions import TYPES, BatchFunction, Function
from recpack_io.keyed import in_a_process

# python/calls/worker_process.h: CallMessage, BatchMessage, AnswerMessage, kSharedAlignment.
_CALL = struct.Struct('=13Q4d9Q')
_BATCH = struct.Struct('=10Q')
_ANSWER = struct.Struct('=2Q')
_ALIGNMENT = 64
_BETWEEN_LOOKS = 1000  # milliseconds


def serve(end: socket.socket, functions: list[Function | BatchFunction],
          inherited: list[int]) -> None:
    """Main function of a worker process."""
    for number in inherited:
        with contextlib.suppress(OSError):
            os.close(number)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and ends this process
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if torch := sys.modules.get('torch'):
        torch.set_num_threads(1)  # parallelism comes from the processes
    parent = os.getppid()
    with contextlib.suppress(ConnectionError):
        memory = socket.recv_fds(end, 1, 1)[1][0]
        shared = np.frombuffer(mmap.mmap(memory, 0), np.uint8)
        callers, slabs = [_caller(function) for function in functions], _Slabs()
        while (message := _message(end, parent))[0]:
            end.send(_ANSWER.pack(*_answer(callers, shared, slabs, *message)))


def _caller(function: Function | BatchFunction) -> SampleCaller | BatchCaller:
    kind = SampleCaller if isinstance(function, Function) else BatchCaller
    return kind(function, in_a_process)


def _message(end: socket.socket, parent: int) -> tuple[bytes, list[int]]:
    """Returns the next message and its descriptors.

    The message is empty if the parent closed the socket or has ended.
    """
    poll = select.poll()
    poll.register(end, select.POLLIN)
    while not poll.poll(_BETWEEN_LOOKS):
        if os.getppid() != parent:
            return b'', []
    return socket.recv_fds(end, _CALL.size, 1)[:2]


class _Slabs:
    """Mappings of the loader's slabs, made on first use.

    A slab's last byte tells that the loader has freed it; the mapping is then released.
    """

    def __init__(self):
        self._mapped: dict[int, mmap.mmap] = {}

    def of(self, number: int, nbytes: int, descriptor: int) -> mmap.mmap:
        try:
            self._mapped = {each: slab for each, slab in self._mapped.items() if not slab[-1]}
            if number not in self._mapped:
                self._mapped[number] = mmap.mmap(descriptor, nbytes)
        finally:
            os.close(descriptor)
        return self._mapped[number]


def _answer(callers: list, shared: np.ndarray, slabs: _Slabs, message: bytes,
            descriptors: list[int]) -> tuple[int, int]:
    try:
        if len(message) == _CALL.size:
            _call_sample(callers, shared, message)
        else:
            _call_batch(callers, shared, slabs, message, *descriptors)
        return 0, 0
    except BaseException as error:
        failure = np.frombuffer(_pickled(error), np.uint8)
        shared[:len(failure)] = failure
        return 1, len(failure)


def _call_sample(callers: list, shared: np.ndarray, message: bytes) -> None:
    (number, record, epoch, position, low, high, seed, height, width, channels, picture_at,
     example_at, example_bytes, *crop, sounds, length, audio_at, begin, frames, rate
     ) = _CALL.unpack(message)
    image = None
    if channels:
        end = picture_at + height * width * channels
        image = shared[picture_at:end].reshape(height, width, channels).copy()
    audio = None
    if sounds:
        audio = shared[audio_at:audio_at + 4 * sounds * length].view(np.float32).copy()
        audio = audio.reshape(sounds, length) if sounds > 1 else audio
    features = _core.Features(shared[example_at:example_at + example_bytes])
    try:
        arrays = callers[number](features, record, epoch, position, (low, high, seed), image,
                                 crop if channels else None, audio,
                                 (begin, frames, rate) if sounds else None)
    finally:
        features.end()
    at = 0
    for array, (most, ragged) in zip(arrays, callers[number].rooms):
        shared[at:at + array.nbytes] = array.reshape(-1).view(np.uint8)
        at += _place(most)
        if ragged:  # behind it is the number of rows
            shared[at:at + 8].view(np.int64)[0] = len(array)
            at += _place(8)


def _place(nbytes: int) -> int:
    return -(-nbytes // _ALIGNMENT) * _ALIGNMENT


def _call_batch(callers: list, shared: np.ndarray, slabs: _Slabs, message: bytes,
                descriptor: int) -> None:
    (number, epoch, position, low, high, seed, _, slab_number, slab_bytes,
     example_bytes) = _BATCH.unpack(message)
    slab = np.frombuffer(slabs.of(slab_number, slab_bytes, descriptor), np.uint8)
    about = _core.Features(shared[:example_bytes])
    arrays = _arrays(about, slab)
    ids, mask = np.asarray(about['ids'], np.uint64), about['mask']
    callers[number](arrays, epoch, position, ids, mask, (low, high, seed))
    arrays.clear()
    kept = weakref.ref(slab)  # referenced by all arrays
    del slab
    if kept() is not None:
        raise InvalidArgumentError('the function keeps views of a batch\'s arrays; keep copies: '
                                   'the memory is that of later batches')


def _arrays(about: _core.Features, slab: np.ndarray) -> dict[str, np.ndarray]:
    """Returns views of the slab by name, except arrays of types that NumPy does not support."""
    back = {ours: np.dtype(name) for name, ours in TYPES.items()}
    names, types = (_texts(about[name]) for name in ('names', 'types'))
    shapes, arrays = list(about['shapes']), {}
    for name, kind, offset, dimensions in zip(names, types, about['offsets'], about['dimensions']):
        shape, shapes = shapes[:dimensions], shapes[dimensions:]
        if kind in back:
            count = int(np.prod(shape, dtype=np.int64)) * back[kind].itemsize
            arrays[name] = slab[offset:offset + count].view(back[kind]).reshape(*shape)
    return arrays


def _texts(values) -> list[str]:
    return [each.tobytes().decode() for each in (values if isinstance(values, list) else [values])]


def _pickled(error: BaseException) -> bytes:
    text = traceback.format_exc()
    with contextlib.suppress(Exception):
        data = pickle.dumps((error, text))
        pickle.loads(data)
        return data
    return pickle.dumps((RuntimeError(f'{type(error).__name__}: {error}'), text))
