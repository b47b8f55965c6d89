"""Tests check_links.py on a small repository with one broken link of each kind."""
import pathlib
import tempfile
import unittest

import check_links


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.write('docs/guide/page.md', '# Page\n\n## The `first`, again\n')
        self.write('README.md', '')

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def found(self):
        check_links.anchors.cache_clear()
        return check_links.check(self.root)

    def test_good_links_pass(self):
        self.write('README.md', '[a](docs/guide/page.md) [b](docs) [c](https://nowhere.invalid/x) '
                                '[d](docs/guide/page.md#the-first-again) [e `[f]`](docs/guide)\n')
        self.write('docs/index.md', '[up](../README.md) [down](guide/page.md)\n')
        self.write('src/a.h', '// See docs/guide/page.md.\n')
        self.assertEqual(self.found(), [])

    def test_a_missing_file(self):
        self.write('README.md', '\n[a](docs/page.md)\n')
        self.assertEqual(self.found(), ['README.md:2: there is no docs/page.md'])

    def test_a_missing_heading(self):
        self.write('README.md', '[a](docs/guide/page.md#second)\n\n[b](#third)\n')
        self.assertEqual(self.found(), ['README.md:1: docs/guide/page.md has no heading #second',
                                        'README.md:3: README.md has no heading #third'])

    def test_a_link_out_of_the_repository(self):
        self.write('README.md', '[a](../)\n')
        self.assertEqual(self.found(), ['README.md:1: ../ is outside of the repository'])

    def test_a_document_that_a_source_names(self):
        self.write('src/a.cc', '// docs/page.md\nthrow Error("see docs/guide/page.md");\n')
        self.assertEqual(self.found(), ['src/a.cc:1: there is no docs/page.md'])

    def test_code_has_no_links(self):
        self.write('README.md', '    [a](b)\n\n```cpp\n[](Batch)\n```\n`x[1](2)`\n')
        self.assertEqual(self.found(), [])


if __name__ == '__main__':
    unittest.main()
