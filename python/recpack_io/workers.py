"""Worker processes that call a loader's functions, independent of the interpreter's lock."""
from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import os
import pickle
import signal
import socket
import time
from collections.abc import Iterator
from multiprocessing import resource_tracker
from multiprocessing.reduction import ForkingPickler

from recpack_io import _core
from recpack_io.functions import BatchFunction, Function
from recpack_io.serving import serve

# Per process; untouched pages take no memory.
_SHARED_BYTES = 1 << 30
_PATIENCE = 2.0  # seconds that processes get to end by themselves


class Workers:
    """Worker processes. They end on stop(), and when this process ends or is killed."""

    def __init__(self, functions: list[Function | BatchFunction], count: int, context):
        if context is None or isinstance(context, str):
            context = multiprocessing.get_context(context)
        functions = [dataclasses.replace(each, image=None, audio=None)
                     if isinstance(each, Function) else each
                     for each in functions]  # images and sounds are made in this process
        forks = context.get_start_method() == 'fork'
        if not forks:
            _check_pickled(functions, context.get_start_method())
        self._pid, self._processes, ends = os.getpid(), [], []
        try:
            for _ in range(count):
                ends.append(_Ends())
                mine = [number for end in ends for number in end.numbers()] if forks else []
                process = context.Process(target=serve, args=(ends[-1].theirs, functions, mine),
                                          name='recpack_io worker', daemon=True)
                with _deaf_to_ctrl_c(context.get_start_method()):
                    process.start()
                self._processes.append(process)
                ends[-1].theirs.close()
            self.core = _core.WorkerProcesses(
                [(*end.give(), process.pid) for end, process in zip(ends, self._processes)])
        except BaseException:
            for end in ends:
                end.close()
            self._end()
            raise

    def stop(self) -> None:
        """Ends the processes, by killing those whose function does not return."""
        if not self._processes:
            return  # already ended; also at exit, when the module may be gone
        if os.getpid() != self._pid:
            return  # in a forked child: the processes are the parent's
        self.core.stop()
        self._end()

    def _end(self) -> None:
        deadline = time.monotonic() + _PATIENCE
        for process in self._processes:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()
        self._processes = []


@contextlib.contextmanager
def _deaf_to_ctrl_c(method: str) -> Iterator[None]:
    """Blocks Ctrl-C in processes started in this context, until they ignore it themselves.

    Not for a fork server, whose children for others would stay deaf too.
    """
    if method == 'forkserver':
        yield
        return
    if method == 'spawn':
        resource_tracker.ensure_running()  # starting it later would unblock Ctrl-C
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Ends:
    """Ends of the socket and memory shared with a process."""

    def __init__(self):
        self.mine, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._memory = os.memfd_create('recpack_io worker')
        os.ftruncate(self._memory, _SHARED_BYTES)
        socket.send_fds(self.mine, [b'm'], [self._memory])

    def numbers(self) -> list[int]:
        return [self.mine.fileno(), self._memory]

    def give(self) -> tuple[int, int]:
        """Returns the descriptors, whose ownership passes to the caller."""
        memory, self._memory = self._memory, -1
        return self.mine.detach(), memory

    def close(self) -> None:
        self.mine.close()
        self.theirs.close()
        if self._memory >= 0:
            os.close(self._memory)


def _check_pickled(functions: list[Function | BatchFunction], method: str) -> None:
    for function in functions:
        try:
            ForkingPickler.dumps(function)
        except Exception as error:
            raise TypeError(
                f'{function.call!r} cannot be pickled for worker processes that are started by '
                f'{method!r}: define it at the top of a module, or give '
                'multiprocessing_context="fork"') from error


class WorkerTraceback(Exception):
    """Cause of an exception that was raised in a worker process: its traceback there."""

    def __init__(self, text: str):
        super().__init__(f'in a worker process\n{text}')


def raise_failure(data: bytes) -> None:
    error, text = pickle.loads(data)
    raise error from WorkerTraceback(text)
