"""Tests check_words.py on sources with one finding of each kind."""
import pathlib
import unittest

import check_words


def reasons(name, text):
    return [reason.split(',')[0] for _, reason in check_words.findings(pathlib.Path(name), text)]


class Words(unittest.TestCase):
    def test_plain_sentences_pass(self):
        self.assertEqual(reasons('a.h', '// Reads shards.\n#pragma once\n// Owned by the caller.\n'
                                        'auto a = "unknown order: expected auto or window";\n'), [])
        self.assertEqual(reasons('a.py', '"""Draws a plan."""\nx = 1  # of all rows\n'), [])

    def test_riddles_in_the_first_line(self):
        for word in 'How', 'What', 'Of', 'Whether', 'Where', 'Why':
            self.assertEqual(reasons('a.h', f'// {word} shards are read.\n')[0], 'the first line is a riddle')
        self.assertEqual(reasons('a.py', '"""What a plan is."""\n'), ['the first line is a riddle'])

    def test_comments_that_begin_with_of(self):
        self.assertEqual(reasons('a.cc', '// Reads shards.\nint n = 0;  // Of the last batch.\n'),
                         ['a comment begins with "Of"'])
        self.assertEqual(reasons('a.py', '"""Draws."""\ndef plan():\n    """Of a job."""\n'),
                         ['a docstring begins with "Of"'])
        self.assertEqual(reasons('a.py', '"""Draws."""\ndef plan():\n    """Office."""\n'), [])

    def test_messages_that_say_is_no(self):
        self.assertEqual(reasons('a.cc', '// Reads.\nThrow("\'x\' is no order");\n'), ['a message says "is no"'])
        self.assertEqual(reasons('a.cc', '// Reads.\nThrow("it is no longer there; there is no room");\n'), [])


if __name__ == '__main__':
    unittest.main()
