#!/usr/bin/env python3
"""Checks links of the documents, and the documents that sources name. Prints FILE:LINE: REASON for each broken one.

usage: check_links.py ROOT      exits 0 (none broken), 1 (some) or 2 (usage)

- A relative link of README.md, CONTRIBUTING.md, CHANGELOG.md, bench/README.md or docs/ names a file or folder, and its
  anchor a heading of that document. Links to other servers are not followed.
- A path docs/NAME in a source, script or document names a file.
"""
import functools
import pathlib
import re
import sys
import urllib.parse

PAGES = ('*.md', 'bench/*.md', 'docs/**/*.md')
SOURCES = ('src', 'include', 'kernels', 'python', 'tools', 'tests', 'bench', 'examples', 'cmake', 'docs')
SUFFIXES = {'.h', '.cc', '.cu', '.py', '.sh', '.cmake', '.txt', '.json', '.md', '.in'}
LEFT_OUT = ('tests/golden', 'bench/results', 'tests/house/check_links')  # made by programs; planted by a test
LINK = re.compile(r'!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)')
NAMED = re.compile(r'(?<![\w./-])docs/[\w./-]*\w\.(?:md|json|txt|png)\b')


def outside_code(text: str):
    """(line number, line without code) of each line that is not in a block of code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith('```'):
            fenced = not fenced
        elif not fenced and not line.startswith('    '):
            yield number, re.sub(r'`[^`]*`', lambda code: code[0].replace('](', '] ('), line)


@functools.cache
def anchors(page: pathlib.Path) -> frozenset[str]:
    """Anchors of a page's headings, as GitHub and MkDocs name them."""
    found: dict[str, int] = {}
    names = set()
    for _, line in outside_code(page.read_text('utf-8')):
        heading = re.match(r'#+ (.*?)\s*#*$', line)
        if heading:
            slug = re.sub(r'[^\w\- ]', '', heading[1].lower()).replace(' ', '-')
            count = found[slug] = found.get(slug, -1) + 1
            names.add(f'{slug}-{count}' if count else slug)
    return frozenset(names)


def broken_links(root: pathlib.Path, page: pathlib.Path):
    for number, line in outside_code(page.read_text('utf-8')):
        for target in LINK.findall(line):
            if re.match(r'[a-z]+:', target):
                continue
            path, _, anchor = urllib.parse.unquote(target).partition('#')
            to = page.parent / path if path else page
            if not to.exists():
                yield number, f'there is no {path}'
            elif root not in to.resolve().parents and to.resolve() != root:
                yield number, f'{path} is outside of the repository'
            elif anchor and to.suffix == '.md' and anchor not in anchors(to.resolve()):
                yield number, f'{path or page.name} has no heading #{anchor}'


def missing_documents(root: pathlib.Path, file: pathlib.Path):
    for number, line in enumerate(file.read_text('utf-8', errors='replace').splitlines(), 1):
        for name in NAMED.findall(line):
            if not (root / name).exists():
                yield number, f'there is no {name}'


def check(root: pathlib.Path) -> list[str]:
    found = []
    for pattern in PAGES:
        for page in sorted(root.glob(pattern)):
            found += [f'{page.relative_to(root)}:{n}: {reason}' for n, reason in broken_links(root, page)]
    for folder in SOURCES:
        for file in sorted((root / folder).rglob('*')):
            name = str(file.relative_to(root))
            if file.suffix in SUFFIXES and file.is_file() and not name.startswith(LEFT_OUT):
                found += [f'{name}:{n}: {reason}' for n, reason in missing_documents(root, file)]
    return found


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = check(pathlib.Path(sys.argv[1]).resolve())
    print('\n'.join(found) if found else 'every link leads somewhere')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
