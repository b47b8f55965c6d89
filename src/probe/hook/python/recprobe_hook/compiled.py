"""Tells calls of functions that JAX has compiled, and of its arrays, from the program's other calls of native code.

JAX's fast path has no frame of Python, so that a compiled step looks like any function of the program.
"""
import builtins
import functools
import inspect
import sys

_MOST = 4096  # places that are remembered
_UNKNOWN = object()
_known = {}


def calls_compiled(frame, function):
    """Returns whether the innermost frame calls a compiled function, whose name in the program's text
    is `function`; True as well where that cannot be told in a program that uses JAX."""
    if 'jaxlib' not in sys.modules or not function:
        return False
    key = frame.f_code, frame.f_lasti
    if key not in _known:
        if len(_known) >= _MOST:
            _known.clear()
        _known[key] = _is_compiled(_find(frame, function.split('.')))
    return _known[key]


def _local(frame, name):
    if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # of a module: these are its globals
        return _UNKNOWN
    names = frame.f_locals
    found = names.get(name, _UNKNOWN)
    if type(names) is dict:
        names.clear()  # a copy, which would keep the program's objects as long as the frame
    return found


def _find(frame, names):
    """Returns what the dotted name means in the frame, or what of JAX's it begins with."""
    first, *rest = names
    found = _local(frame, first)
    if found is _UNKNOWN:
        found = frame.f_globals.get(first, vars(builtins).get(first, _UNKNOWN))
    for name in rest:
        if _is_compiled(found):
            return found
        # Not getattr(), which may run code of the program.
        found = inspect.getattr_static(found, name, _UNKNOWN)
        if isinstance(found, (staticmethod, classmethod)):
            found = found.__func__
    return found


def _is_compiled(what):
    if what is _UNKNOWN or type(what).__module__.partition('.')[0] in ('jax', 'jaxlib'):
        return True
    return isinstance(what, functools.partial) and _is_compiled(what.func)
