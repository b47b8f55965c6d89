"""No two types of a namespace have one name in two files: a program that has both is broken silently."""
import collections
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACES = ('include/*.h', 'src/*.h', 'src/*.cc', 'kernels/*.h', 'tools/*.h', 'tools/*.cc')
DEFINITION = re.compile(r'^(?:struct|class|enum class) (\w+)(?: final)?(?:\s*:\s[^;{]*)?\s*\{', re.M)


def without_anonymous(text: str) -> str:
    """The file without what its anonymous namespaces hold."""
    for place in reversed([match.start() for match in re.finditer(r'namespace \{', text)]):
        depth = 0
        for end in range(place, len(text)):
            depth += {'{': 1, '}': -1}.get(text[end], 0)
            if depth == 0 and text[end] == '}':
                text = text[:place] + text[end + 1:]
                break
    return text


def types(text: str) -> list[tuple[str, str]]:
    """(namespace, name) of the types that a file defines."""
    text = without_anonymous(text)
    namespace = re.search(r'^namespace ([\w:]+) \{', text, re.M)
    return [(namespace[1] if namespace else '', name) for name in DEFINITION.findall(text)]


class OneName(unittest.TestCase):
    def test_types_have_names_of_their_own(self):
        files = subprocess.run(['git', 'ls-files', *PLACES], cwd=ROOT, capture_output=True, text=True,
                               check=False).stdout.split()
        if not files:
            self.skipTest('no checkout')
        where = collections.defaultdict(set)
        for file in files:
            for found in types((ROOT / file).read_text('utf-8')):
                where[found].add(file)
        self.assertGreater(len(where), 500)
        self.assertEqual({name: files for name, files in where.items() if len(files) > 1}, {})

    def test_what_is_looked_for(self):
        text = ('namespace a {\nnamespace {\nstruct Hidden {\n};\n}\nstruct A {\n};\n'
                'class B final : public A {\n};\nstruct A::Nested {\n};\nstruct Later;\n}\n')
        self.assertEqual(types(text), [('a', 'A'), ('a', 'B')])


if __name__ == '__main__':
    unittest.main()
