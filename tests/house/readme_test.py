"""The README's code is code that is built: the trainer's loop is part of examples/softmax.cc."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Readme(unittest.TestCase):
    def test_the_loop_is_the_example(self):
        blocks = re.findall(r'```cpp\n(.*?)```', (ROOT / 'README.md').read_text('utf-8'), re.S)
        loops = [block for block in blocks if 'loader.Next()' in block]
        self.assertEqual(len(loops), 1)
        self.assertIn(loops[0], (ROOT / 'examples' / 'softmax.cc').read_text('utf-8'))


if __name__ == '__main__':
    unittest.main()
