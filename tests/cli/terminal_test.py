"""Progress bars: on a terminal, and nowhere else."""
import os
import subprocess
import unittest

from support import CIFAR, DONE, RECPACK, CliTest

CLEAR = '\r\x1b[K'


class Terminal(CliTest):
    def on_terminal(self, *words):
        """What the program writes to the terminal that stdout and stderr are."""
        leader, follower = os.openpty()
        with subprocess.Popen([RECPACK, *map(str, words)], stdin=subprocess.DEVNULL,
                              stdout=follower, stderr=follower) as program:
            os.close(follower)
            text = b''
            try:
                while piece := os.read(leader, 4096):
                    text += piece
            except OSError:  # the other side is closed
                pass
            self.assertEqual(program.wait(60), DONE)
        os.close(leader)
        return text.decode()

    def commands(self):
        """Each command that reads much: its words, and what its bar says."""
        out = self.folder / 'out'
        (self.folder / 'bare').mkdir()
        self.pack(CIFAR / 'cifar-10-batches-py', '--shards', '2')
        shard = next(out.glob('train*.tfrecord'))
        os.link(shard, self.folder / 'bare' / shard.name)
        return [(['pack', CIFAR / 'cifar-10-batches-py', self.folder / 'again'], 'packing'),
                (['verify', out, '--split', 'eval'], 'verifying'),
                (['index', out], 'indexing'),
                (['repair', out, self.folder / 'saved'], 'repairing'),
                (['ls', self.folder / 'bare'], 'reading')]

    def test_a_bar_is_drawn_and_taken_away_before_the_result(self):
        for words, says in self.commands():
            text = self.on_terminal(*words)
            self.assertIn(CLEAR + says, text)
            before, _, result = text.rpartition(CLEAR)
            self.assertIn(says, before)
            self.assertNotIn(says, result)
            self.assertGreater(len(result), 10)  # the result is all that stays

    def test_no_bar_elsewhere_nor_where_quiet_is_asked_for(self):
        for words, says in self.commands():
            self.assertNotIn(says, self.run_recpack(*words).stderr)
            if words[0] not in ('ls', 'repair', 'pack'):
                self.assertEqual(self.on_terminal(*words, '--quiet'), '')


if __name__ == '__main__':
    unittest.main()
