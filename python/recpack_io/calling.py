"""What a loader calls: functions of the user, with what they give held to what was declared."""
from __future__ import annotations

import numpy as np

from recpack_io import _core
from recpack_io.functions import (BatchArrays, BatchFunction, Declared, Function, Sample,
                                  kind_and_shape)
from recpack_io.keyed import Key, on_a_thread


class SampleCaller:
    """What the loader calls for a sample: checks what the function gives."""

    def __init__(self, function: Function, keyed=on_a_thread):
        self._function, self._keyed = function, keyed

    def __call__(self, features, id, epoch, position, key, image) -> list[np.ndarray]:  # noqa: A002
        key = Key(*key)
        sample = Sample(features, id, epoch, position, key, image)
        with self._keyed(key.seed), _no_exit():
            result = self._function.call(sample)
        return self._function.checked(result)


class BatchCaller:
    """What the loader calls for a batch."""

    def __init__(self, function: BatchFunction):
        self._function = function

    def __call__(self, arrays: dict, epoch: int, position: int, ids, mask, key) -> None:
        key = Key(*key)
        batch = BatchArrays(arrays, epoch, position, ids, mask, key)
        mine = {name: batch.pop(name) for name in self._function.arrays}
        with on_a_thread(key.seed), _no_exit():
            result = self._function.call(batch)
        whole = {}
        for name, declared in self._function.arrays.items():
            kind, shape = kind_and_shape(declared)
            whole[name] = kind, (len(ids), *shape)
        checked = Declared(self._function.call, whole).checked({} if result is None else result)
        for name, values in zip(whole, checked):
            mine[name][...] = values


class _no_exit:  # noqa: N801
    """sys.exit() in a function is an error of it: it would end a training as if that were done."""

    def __enter__(self):
        pass

    def __exit__(self, kind, error, traceback):
        if kind is not None and not issubclass(kind, Exception):
            raise RuntimeError(f'a function of the loader raised {error!r}') from error


class Functions:
    """A loader's functions, ready to be called. `fields` and `batch_functions`: for the core."""

    def __init__(self, fields, batch_functions, workers: int, context):
        if workers < 0:
            raise ValueError(f'there are no {workers} workers; 0 calls functions on threads')
        mine = [each for each in fields if isinstance(each, Function)]
        self.workers = None
        if workers and mine:
            from recpack_io.workers import Workers
            self.workers = Workers(mine, workers, context)
        self._callers = [SampleCaller(each) for each in mine]
        cores = iter([self._core(number, each) for number, each in enumerate(mine)])
        self.fields = [next(cores) if isinstance(each, Function) else each for each in fields]
        self.batch_functions = []
        for number, each in enumerate(batch_functions):
            if not isinstance(each, BatchFunction):
                each = BatchFunction(each)
            self._callers.append(BatchCaller(each))
            self.batch_functions.append(_core.BatchFunction(
                self._callers[-1], f'batch function {each.name}', each.core_arrays(),
                number if each.stream is None else each.stream))

    def _core(self, number: int, function: Function) -> _core.FunctionField:
        stream = number if function.stream is None else function.stream
        rest = f'function {function.name}', function.core_arrays(), stream, function.image
        if self.workers is not None:
            return self.workers.field(number, *rest)
        return _core.FunctionField(self._callers[number], *rest)

    def stop(self) -> None:
        """Ends calls in processes, and these; none are called again."""
        if self.workers is not None:
            self.workers.stop()
