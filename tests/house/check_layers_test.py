"""check_layers.py finds each kind of violation, planted in a small tree, and no more."""

import contextlib
import pathlib
import tempfile
import unittest

import check_layers

LAYERS = """
base: | fmt/
record: base | zlib.h
loader: base |
probe: loader/stats.h tiles |
tiles: base |
tools: base record | CLI/
tiles/low:
tiles/high: low
python: base |
python/low:
python/high: low
shared: tools zlib.h  # why
"""

FILES = {
    "include/recpack/base/a.h": "#include <vector>\n",
    "src/base/format.h": "#include <fmt/format.h>\n",
    "src/base/private.h": "",
    "include/recpack/record/r.h": '#include "recpack/base/a.h"\n',
    "include/recpack/loader/stats.h": "",
    "include/recpack/loader/other.h": "",
    "src/tiles/all.h": "",
    "src/tiles/low/l.h": '#include "src/tiles/all.h"\n',
    "src/tiles/high/h.h": '#include "src/tiles/low/l.h"\n',
    "python/high/h.h": '#include "python/low/l.h"\n',
    "python/low/l.h": "",
}


class CheckLayersTest(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.root = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.addCleanup(self.stack.close)
        for path, text in FILES.items():
            self.write(path, text)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def found(self, path=None, text=""):
        if path:
            self.write(path, text)
        return list(check_layers.violations(self.root, check_layers.read_layers(LAYERS)))

    def assert_refused(self, path, text, reason):
        found = self.found(path, "// first line\n" + text)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{path}:2: "), found[0])
        self.assertIn(reason, found[0])

    def test_clean_tree_has_none(self):
        self.assertEqual(self.found(), [])

    def test_allowed_includes_pass(self):
        text = "".join(
            f"#include {name}\n"
            for name in (
                '"recpack/record/r.h"', '"recpack/base/a.h"', '"src/base/format.h"', "<zlib.h>",
                "<unistd.h>", "<sys/stat.h>", "<immintrin.h>", "<span>",
            )
        )
        self.assertEqual(self.found("src/record/r.cc", text), [])

    def test_module_that_is_not_below(self):
        self.assert_refused("src/base/b.cc", '#include "recpack/record/r.h"', "may not include record")

    def test_private_header_of_another_module(self):
        self.assert_refused("src/record/b.cc", '#include "src/base/private.h"', "private header of base")

    def test_private_header_by_a_way_round(self):
        self.assert_refused("src/record/b.cc", '#include "../base/private.h"', "private header")

    def test_private_header_in_a_public_one(self):
        self.assert_refused("include/recpack/base/b.h", '#include "src/base/format.h"', "private header")

    def test_third_party_of_another_module(self):
        self.assert_refused("src/base/b.cc", "#include <zlib.h>", "belongs to record and tools")

    def test_third_party_that_nobody_owns(self):
        self.assert_refused("src/base/b.cc", "#include <curl/curl.h>", "owned by no module")

    def test_third_party_in_a_public_header(self):
        self.assert_refused("include/recpack/record/b.h", "#include <zlib.h>", "third party")

    def test_unknown_module(self):
        self.assert_refused("src/other/b.cc", "#include <vector>", "no module other")

    def test_one_header_only(self):
        self.assertEqual(self.found("src/probe/p.cc", '#include "recpack/loader/stats.h"'), [])
        self.assert_refused(
            "src/probe/q.cc", '#include "recpack/loader/other.h"', "may not include loader")

    def test_module_that_is_not_installed_has_open_headers(self):
        self.assertEqual(self.found("src/probe/p.cc", '#include "src/tiles/high/h.h"'), [])
        self.assert_refused("src/record/b.cc", '#include "src/tiles/high/h.h"', "may not include tiles")

    def test_room_that_is_not_above(self):
        self.assert_refused("src/tiles/low/b.cc", '#include "src/tiles/high/h.h"', "may not include the room high")

    def test_room_of_python_that_is_not_above(self):
        self.assert_refused("python/low/b.cc", '#include "python/high/h.h"', "may not include the room high")

    def test_layers_that_name_no_module(self):
        for text in "base: nothing |", "base: |\nother/room:", "base: |\nbase/a: b\nbase/b: a":
            with self.assertRaises(ValueError):
                check_layers.read_layers(text)


if __name__ == "__main__":
    unittest.main()
