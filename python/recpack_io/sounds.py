"""Functions that take only a sound, such as spectrograms."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recpack_io import _core
from recpack_io.functions import Declared, Function, Sample


class ThenOfSound:
    """Calls `then` with the sound of a sample."""

    def __init__(self, name: str, then: Callable[[Any], Any]):
        self.name, self.then = name, then
        self.__qualname__ = Declared(then).name

    def __call__(self, sample: Sample) -> dict[str, Any]:
        return {self.name: self.then(sample.audio)}


def of_sound(audio: _core.AudioField, then: Callable[[Any], Any], result: Any,
             stream: int | None) -> Function:
    """Returns the field of Audio(then=...)."""
    if result is None:
        raise TypeError('Audio(): `then` needs `result`: the (type, shape) that it returns, such '
                        'as ("float32", (64, 100))')
    return Function(ThenOfSound(audio.name, then), {audio.name: result}, stream, audio=audio)
