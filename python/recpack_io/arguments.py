"""Checks of arguments: errors name the argument, and what it should be."""
from __future__ import annotations

import functools
import inspect
import os
import reprlib
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any, Literal, TypeVar, get_args, get_origin

from recpack_io import _core, options

_Call = TypeVar('_Call', bound=Callable[..., Any])


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _is_list(value: Any) -> bool:
    # Some libraries' arrays have no __iter__.
    return not isinstance(value, (str, bytes)) and (
        isinstance(value, Iterable) or hasattr(value, '__getitem__'))


# What to give, and a test of that, by annotation. Arguments of other annotations are not tested.
_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    'None': ('None', lambda value: value is None),
    'int': ('an integer', lambda value: hasattr(value, '__index__')),
    'float': ('a number', lambda value: hasattr(value, '__float__') or hasattr(value, '__index__')),
    'bool': ('True or False', lambda value: isinstance(value, bool)),
    'str': ('a string', _is_string),
    'Path': ('a path', _is_path),
    'os.PathLike': ('a path', _is_path),
    'os.PathLike[str]': ('a path', _is_path),
    'dict[str, str]': ('a dictionary', lambda value: isinstance(value, Mapping)),
    'Mapping[str, str]': ('a dictionary', lambda value: isinstance(value, Mapping)),
    'Sequence[int]': ('a list of integers', _is_list),
    'Sequence[float]': ('a list of numbers', _is_list),
    'Sequence[str]': ('a list of strings', _is_list),
    'Sequence[Path]': ('a list of paths', _is_list),
    'Sequence[Field]': ('a list of fields', _is_list),
    'Dataset': ('what recpack_io.open() returns',
                lambda value: isinstance(value, _core.Dataset)),
    'View': ('a view of it', lambda value: hasattr(value, '_view')),
    'Mixture': ('a mixture', lambda value: isinstance(getattr(value, '_core', None),
                                                      _core.Mixture)),
}


def _either(words: Iterable[str]) -> str:
    *first, last = words
    return f'{", ".join(first)} or {last}' if first else last


# Another string is an error of the core, which has the choices too.
_KINDS |= {name: (_either(repr(word) for word in get_args(choice) if word), _is_string)
           for name, choice in vars(options).items() if get_origin(choice) is Literal}
_KINDS['Order'] = (f'{_KINDS["OrderName"][0]}, or ("window", BLOCK, LANES, WINDOW)',
                   lambda value: _is_string(value) or isinstance(value, tuple))


def unknown_argument(of: str, name: str, known: Iterable[str]) -> TypeError:
    """Returns the error for an argument that `of` does not have: it names the nearest one."""
    from difflib import get_close_matches
    known = sorted(known)
    nearest = get_close_matches(name, known, n=1)
    advice = f'did you mean {nearest[0]!r}?' if nearest else f'it has {", ".join(known)}'
    return TypeError(f'{of}() has no argument {name!r}: {advice}')


def check_kind(of: str, name: str, value: Any, annotation: Any) -> None:
    """Checks that a value is of a kind that the annotation, a string or ForwardRef, allows.

    Raises:
        TypeError: If it is not.
    """
    annotation = str(getattr(annotation, '__forward_arg__', annotation))
    allowed = annotation.split(' | ')
    # An argument that may only be None has an error of its own.
    if annotation == 'None' or not all(each in _KINDS for each in allowed):
        return
    kinds = [_KINDS[each] for each in allowed]
    if any(test(value) for _, test in kinds):
        return
    wanted = _either(dict.fromkeys(what for what, _ in kinds))
    raise TypeError(f'{of}(): {name} cannot be {reprlib.repr(value)}: give {wanted}')


def _parameters(calls: Iterable[Callable]) -> dict[str, inspect.Parameter]:
    found: dict[str, inspect.Parameter] = {}
    for call in calls:
        for name, each in inspect.signature(call).parameters.items():
            if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY) and name != 'self':
                found.setdefault(name, each)
    return found


def _initialisers(kind: type) -> list[Callable]:
    found = (vars(each).get('__init__') for each in kind.__mro__)
    return [each for each in found if isinstance(each, FunctionType)]


def checks_arguments(*passed_to: Callable) -> Callable[[_Call], _Call]:
    """Makes a function check names and kinds of its arguments, by its signature.

    `passed_to`: functions to which it passes other keyword arguments. An __init__ passes them to
    those of the base classes.
    """
    def decorated(call: _Call) -> _Call:
        is_init = call.__name__ == '__init__'
        own = list(_parameters([call]))
        is_method = 'self' in inspect.signature(call).parameters

        @functools.wraps(call)
        def checked(*given, **named):
            of, others = call.__name__, passed_to
            if is_init:
                of, others = type(given[0]).__name__, _initialisers(type(given[0]))
            known = _parameters([call, *others])
            for name in named:
                if name not in known:
                    raise unknown_argument(of, name, known)
            for name, value in (dict(zip(own, given[is_method:])) | named).items():
                check_kind(of, name, value, known[name].annotation)
            return call(*given, **named)
        return checked  # type: ignore[return-value]
    return decorated
