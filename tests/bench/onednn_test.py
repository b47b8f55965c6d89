"""bench/train/onednn.py: what it reads of oneDNN's own account of a run."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'bench' / 'train'))

import onednn  # noqa: E402

# As versions up to 3.2 and from 3.6 on print it.
HEADS = ('onednn_verbose,', 'onednn_verbose,v1,primitive,')


def line(head: str, name: str, direction: str, ms: float) -> str:
    return (f'{head}exec,cpu,convolution,{name},{direction},src_f32::blocked:acdb:f0,,'
            f'alg:convolution_direct,mb128_ic64oc128,{ms}')


class Chosen(unittest.TestCase):
    def test_counts_primitives_of_a_pass_without_the_first_passes(self):
        for head in HEADS:
            passes = [[line(head, 'jit:avx512_core', 'forward_training', ms),
                       line(head, 'jit:avx512_core', 'forward_training', 2 * ms),
                       line(head, 'brgconv:avx512_core', 'backward_data', 1.5)]
                      for ms in [100.0] * onednn.UNCOUNTED + [1.0] * 7]
            about = [f'{head}info,template:operation,engine,primitive,exec_time']
            output = '\n'.join(about + sum(passes, []) + ['{"onednn": "3.6.2"}'])
            self.assertEqual(onednn.chosen(output), {
                'backward_data brgconv:avx512_core': {'primitives': 1, 'ms': 1.5},
                'forward_training jit:avx512_core': {'primitives': 2, 'ms': 3.0}})

    def test_passes_are_as_many_as_the_program_makes(self):
        self.assertIn(f'for (int i = -{onednn.UNCOUNTED}; i < {onednn.PASSES - onednn.UNCOUNTED}; ',
                      onednn.SOURCE.read_text(encoding='utf-8'))


if __name__ == '__main__':
    unittest.main()
