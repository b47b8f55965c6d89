"""The shapes in docs/reference/json.md, and what of a value is not as they say."""
import json
import pathlib
import re

PAGE = pathlib.Path(__file__).parents[2] / 'docs/reference/json.md'
SHAPES = {title: json.loads(block) for title, block in
          re.findall(r'(?ms)^### (.*?)$.*?^```json\n(.*?)^```', PAGE.read_text('utf-8'))}
TYPES = {'string': str, 'integer': int, 'number': (int, float), 'boolean': bool, 'null': type(None)}


def named(reference):
    """The shape that "@NAME" stands for."""
    return SHAPES[reference.removeprefix('@')]


def own_members(shape):
    return {name.removesuffix('?'): (inner, name.endswith('?')) for name, inner in shape.items() if name != '...'}


def members(shape):
    """Shape by name, and whether it may be missing, those of "..." included."""
    shared = members(named(shape['...'])) if '...' in shape else {}
    return {**shared, **own_members(shape)}


def is_of(kind, value):
    if kind.startswith('@'):
        return not any(differences(named(kind), value))
    return isinstance(value, TYPES[kind]) and (kind == 'boolean' or not isinstance(value, bool))


def differences(shape, value, where='$'):
    """What of a value is not as its shape says."""
    if isinstance(shape, str) and shape.startswith('@') and '|' not in shape:
        yield from differences(named(shape), value, where)
    elif isinstance(shape, str):
        if not any(is_of(kind, value) for kind in shape.split('|')):
            yield f'{where}: {value!r} is not {shape}'
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f'{where}: {value!r} is not a list'
            return
        for i, each in enumerate(value):
            yield from differences(shape[0], each, f'{where}[{i}]')
    elif not isinstance(value, dict):
        yield f'{where}: {value!r} is not an object'
    else:
        known = members(shape)
        for name, (_, optional) in known.items():
            if name != '*' and not optional and name not in value:
                yield f'{where}: lacks {name}'
        for name, each in value.items():
            inner, _ = known.get(name, known.get('*', (None, False)))
            if inner is None:
                yield f'{where}: has {name}, which the page has not'
            else:
                yield from differences(inner, each, f'{where}.{name}')


def unseen(shape, values, where='$'):
    """What of a shape is in none of the values, so that nothing shows that it is right: members that may be missing, and
    elements of lists. A shape that others refer to is seen by itself."""
    if isinstance(shape, list):
        elements = [each for value in values for each in value]
        if elements:
            yield from unseen(shape[0], elements, f'{where}[]')
        else:
            yield f'{where}[]'
    elif isinstance(shape, dict):
        for name, (inner, _) in own_members(shape).items():
            found = [each for value in values for key, each in value.items() if name in (key, '*')]
            if found:
                yield from unseen(inner, found, f'{where}.{name}')
            else:
                yield f'{where}.{name}'


def references(shape):
    """The names that a shape refers to."""
    if isinstance(shape, str):
        yield from (kind[1:] for kind in shape.split('|') if kind.startswith('@'))
    else:
        for inner in shape if isinstance(shape, list) else shape.values():
            yield from references(inner)


class FitsPage:
    """For test cases."""

    def is_like(self, title, value):
        """The value is as the page says."""
        self.assertEqual(list(differences(SHAPES[title], value)), [], title)

    def fits(self, title, *values, never=()):
        """Each value is as the page says, and together they have all that it says, but for what is `never` there."""
        self.assertNotEqual(values, ())
        for value in values:
            self.is_like(title, value)
        self.assertEqual(list(unseen(SHAPES[title], values)), list(never), title)
