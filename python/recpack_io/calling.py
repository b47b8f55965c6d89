"""Callers of user functions: check results against the declaration."""
from __future__ import annotations

import numpy as np

from recpack_io import _core
from recpack_io.functions import (BatchArrays, BatchFunction, Declared, Function, Sample,
                                  kind_and_shape)
from recpack_io.keyed import Key, on_a_thread
from recpack_io.mixing import MixImages


class SampleCaller:
    """Calls a function for a sample and checks its result."""

    def __init__(self, function: Function, keyed=on_a_thread):
        self._function, self._keyed = function, keyed
        self.rooms = function.rooms()  # bytes of each array at most, and whether it is ragged

    def __call__(self, features, id, epoch, position, key, image, crop=None,  # noqa: A002
                 audio=None, part=None) -> list[np.ndarray]:
        key = Key(*key)
        sample = Sample(features, id, epoch, position, key, image, crop, audio, part)
        with self._keyed(key.seed), _no_exit():
            result = self._function.call(sample)
        return self._function.checked(result)


class BatchCaller:
    """Calls a function for a batch and checks its result."""

    def __init__(self, function: BatchFunction, keyed=on_a_thread):
        self._function, self._keyed = function, keyed

    def __call__(self, arrays: dict, epoch: int, position: int, ids, mask, key) -> None:
        key = Key(*key)
        batch = BatchArrays(arrays, epoch, position, ids, mask, key)
        mine = {name: batch.pop(name) for name in self._function.arrays}
        with self._keyed(key.seed), _no_exit():
            result = self._function.call(batch)
        whole = {}
        for name, declared in self._function.arrays.items():
            kind, shape = kind_and_shape(declared)
            whole[name] = kind, (len(ids), *shape)
        checked = Declared(self._function.call, whole).checked({} if result is None else result)
        for name, values in zip(whole, checked):
            mine[name][...] = values


class _no_exit:  # noqa: N801
    """Turns sys.exit() and the like in a function into an error.

    Otherwise it would end the training as if it were complete.
    """

    def __enter__(self):
        pass

    def __exit__(self, kind, error, traceback):
        if kind is not None and not issubclass(kind, Exception):
            raise RuntimeError(f'a function of the loader raised {error!r}') from error


class Functions:
    """A loader's functions, prepared for calling.

    `fields` and `batch_functions` are passed to the core.
    """

    def __init__(self, fields, batch_functions, workers: int, context):
        if workers < 0:
            raise ValueError(f'there are no {workers} workers; 0 calls functions on threads')
        ours = [each for each in fields if isinstance(each, Function)]
        steps = [each if isinstance(each, (BatchFunction, MixImages)) else BatchFunction(each)
                 for each in batch_functions]
        batch_functions = [each for each in steps if isinstance(each, BatchFunction)]
        self._workers = None
        if workers and (ours or batch_functions):
            from recpack_io.workers import Workers
            self._workers = Workers(ours + batch_functions, workers, context)
        self.share_slabs = self._workers is not None and bool(batch_functions)
        self.running = _core.RunningCalls()
        self._callers = [SampleCaller(each) for each in ours]
        self._callers += [BatchCaller(each) for each in batch_functions]
        cores = iter([self._field(*each) for each in enumerate(ours)])
        self.fields = [next(cores) if isinstance(each, Function) else each for each in fields]
        callers = iter(range(len(ours), len(self._callers)))
        self.batch_functions = [step.core(place) if isinstance(step, MixImages)
                                else self._batch_function(next(callers), place, step)
                                for place, step in enumerate(steps)]

    def _field(self, number: int, function: Function) -> _core.FunctionField:
        stream = number if function.stream is None else function.stream
        rest = (f'function {function.name}', function.core_arrays(), stream, function.image,
                function.audio)
        if self._workers is not None:
            return self._workers.core.field(number, self.running, *rest)
        return _core.FunctionField(self._callers[number], self.running, *rest)

    def _batch_function(self, caller: int, place: int, function: BatchFunction):
        stream = place if function.stream is None else function.stream
        rest = f'batch function {function.name}', function.core_arrays(), stream
        if self._workers is not None:
            return self._workers.core.batch_function(caller, self.running, *rest)
        return _core.BatchFunction(self._callers[caller], self.running, *rest)

    def stop(self) -> None:
        """Ends calls in worker processes, and the processes. No function is called afterwards."""
        if self._workers is not None:
            self._workers.stop()
