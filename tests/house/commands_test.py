"""Checks that the commands shown in README and docs exist, with the flags that they are given."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ('recpack', 'recprobe', 'rectrain')
COMMAND = re.compile(r'(?<![\w./"-])(recpack|recprobe|rectrain) +([a-z-]+)\b(.*)')
FLAG = re.compile(r'(?<!\S)--[a-z][a-z0-9-]*')


def sources(program: str) -> str:
    tools = ROOT / 'tools'
    return ''.join(path.read_text('utf-8') for path in sorted([*tools.glob('*.cc'), *(tools / program).rglob('*.cc')]))


def code(text: str):
    """Lines of blocks of code and, one each, pieces of code within lines; without comments."""
    fenced = False
    joined = re.sub(r'\\\n\s*', ' ', text)
    for line in joined.splitlines():
        if line.startswith('```'):
            fenced = not fenced
        elif fenced or line.startswith('    '):
            yield re.split(r'\s#\s', line.strip())[0]
    for piece in re.findall(r'`([^`]+)`', re.sub(r'```.*?```', '', text, flags=re.S)):
        yield ' '.join(piece.split())


def commands(line: str):
    """(program, command, flags) of each command of ours; what follows ` -- ` is a command of its own."""
    for part in re.split(r'\s--\s|&&|\|', line):
        found = COMMAND.search(part)
        if found:
            yield found[1], found[2], FLAG.findall(found[3])


class Commands(unittest.TestCase):
    def setUp(self):
        self.known = {}
        for program in PROGRAMS:
            text = sources(program)
            self.known[program] = (set(re.findall(r'add_subcommand\(\s*"([a-z-]+)"', text)),
                                   set(re.findall(r'--[a-z][a-z0-9-]*', text)) | {'--help', '--version'})

    def unknown(self, text: str) -> list[str]:
        found = []
        for line in code(text):
            for program, command, flags in commands(line):
                names, known_flags = self.known[program]
                if command not in names:
                    found.append(f'{program} {command}')
                found += [f'{program} {command} {flag}' for flag in flags if flag not in known_flags]
        return found

    def test_the_documents(self):
        seen = 0
        for path in [ROOT / 'README.md', *sorted((ROOT / 'docs').rglob('*.md'))]:
            if 'decisions' in path.parts:  # a decision tells of its day
                continue
            text = path.read_text('utf-8')
            self.assertEqual(self.unknown(text), [], path.relative_to(ROOT))
            seen += sum(1 for line in code(text) for _ in commands(line))
        self.assertGreater(seen, 50)

    def test_what_does_not_exist_is_found(self):
        self.assertEqual(self.unknown('    recpack wrap photos shards\n'), ['recpack wrap'])
        self.assertEqual(self.unknown('    $ recprobe run --reprot x -- rectrain train y --no-such-flag 1  # --note\n'),
                         ['recprobe run --reprot', 'rectrain train --no-such-flag'])
        self.assertEqual(self.unknown('See `rectrain eval --no-such-flag`.'), ['rectrain eval --no-such-flag'])


if __name__ == '__main__':
    unittest.main()
