"""Every public name of the package, and every parameter, is documented."""
import dataclasses
import importlib
import inspect
import os
import re
import unittest

import recpack_io
from support import main

ADAPTERS = {'vision': ['torch'], 'huggingface': ['huggingface'], 'torchtitan': ['torchtitan'], 'jax': ['jax'], 'maxtext': ['maxtext'],
            'ray': ['ray', 'flight'], 'spark': ['spark'], 'tf': ['tensorflow']}
MADE_BY_OTHERS = 'Batch', 'BatchArrays', 'Dataset', 'Record', 'Sample'  # no user calls these
RAISING = 'open', 'pack', 'Writer', 'Loader', 'decode_image'


def text_of(thing):
    """Its documentation, without the signatures that the core's begins with."""
    text = inspect.getdoc(thing) or ''
    name = getattr(thing, '__name__', None)
    return re.sub(rf'^{re.escape(name)}\(.*\n*', '', text) if name else text


def is_ours(kind):
    return kind.__module__.partition('.')[0] == 'recpack_io'


def members(kind):
    """Public methods and properties by name, also inherited ones of ours."""
    for base in filter(is_ours, kind.__mro__):
        for name, member in vars(base).items():
            documented = callable(member) or isinstance(member, property)
            if documented and not name.startswith('_') and not inspect.ismemberdescriptor(member):
                yield name, member


def parameters(thing):
    """Names that a caller may give; none where the core says them in its signature."""
    if dataclasses.is_dataclass(thing):
        return [field.name for field in dataclasses.fields(thing)]
    if isinstance(thing, property) or inspect.isclass(thing) and issubclass(thing, Exception):
        return []
    try:
        signature = inspect.signature(thing)
    except ValueError:
        return []
    return [name for name, each in signature.parameters.items()
            if name != 'self' and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]


def public_names():
    for name in recpack_io.__all__:
        yield name, getattr(recpack_io, name)
    for adapter in ADAPTERS.get(os.environ.get('RECPACK_ENVIRONMENT'), []):
        module = importlib.import_module(f'recpack_io.{adapter}')
        for name, thing in vars(module).items():
            within = f'{getattr(thing, "__module__", "")}.'.startswith(f'{module.__name__}.')  # a package's parts too
            if within and not name.startswith('_'):
                yield f'{adapter}.{name}', thing


class Documented(unittest.TestCase):
    def check(self, name, thing, leave_out=()):
        text = text_of(thing)
        self.assertGreater(len(text), 8, name)
        unnamed = [each for each in parameters(thing) if each not in leave_out
                   and not re.search(rf'\b{re.escape(each)}\b', text)]
        self.assertEqual(unnamed, [], f'{name} does not say what they are')

    def test_every_name_and_parameter(self):
        of_loader = parameters(recpack_io.Loader)
        for name, thing in public_names():
            with self.subTest(name):
                if name in MADE_BY_OTHERS:
                    self.assertGreater(len(text_of(thing)), 8)
                else:
                    as_loader = 'As recpack_io.Loader' in text_of(thing)
                    self.check(name, thing, of_loader if as_loader else ())
            for member, what in members(thing) if inspect.isclass(thing) else ():
                with self.subTest(f'{name}.{member}'):
                    self.check(f'{name}.{member}', what)

    def test_options_of_paths(self):
        from recpack_io.pack_options import PathOptions, core_options
        text = inspect.getdoc(recpack_io.pack)
        self.assertEqual([name for name in PathOptions.__annotations__
                          if not re.search(rf'\b{name}\b', text)], [])
        self.assertEqual(list(PathOptions.__annotations__), parameters(core_options))

    def test_errors(self):
        for name in RAISING:
            self.assertIn('Raises', inspect.getdoc(getattr(recpack_io, name)), name)

    def test_what_is_not_documented_is_seen(self):
        def silent(first, second):
            """It does something with first."""
        with self.assertRaisesRegex(AssertionError, 'second'):
            self.check('silent', silent)


if __name__ == '__main__':
    main()
