"""Tests the pages that programs print about themselves: manual, reference and completion."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

PROGRAMS = {name: os.environ[name.upper()] for name in ('recpack', 'recprobe', 'rectrain')}
REFERENCE = pathlib.Path(__file__).parents[2] / 'docs/reference/cli'


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=True, **options).stdout


def commands(program):
    """The names that --help lists."""
    return re.findall(r'(?m)^  (\w+) ', run(program, '--help').split('Subcommands:')[1])


class Pages(unittest.TestCase):
    def test_the_reference_is_what_the_programs_print(self):
        for name, program in PROGRAMS.items():
            with self.subTest(name):
                self.assertEqual((REFERENCE / f'{name}.md').read_text(), run(program, 'page', 'markdown'),
                                 f'run `{name} page markdown > docs/reference/cli/{name}.md`')

    def test_pages_name_every_command_and_flag(self):
        for name, program in PROGRAMS.items():
            manual = run(program, 'page', 'man').replace('\\-', '-').replace('\\:', '')
            reference = run(program, 'page', 'markdown')
            self.assertGreater(len(commands(program)), 3)
            for command in commands(program):
                flags = re.findall(r'(?m)^  (?:-\w,)?(--[a-z0-9-]+)', run(program, command, '--help'))
                self.assertIn('--help', flags)
                for page, title in ((manual, f'.SH {name} {command}\n'), (reference, f'\n## {name} {command}\n')):
                    self.assertIn(title, page)
                    section = page.split(title)[1]
                    for flag in flags:
                        with self.subTest(f'{name} {command} {flag}'):
                            self.assertRegex(section, rf'{flag}[ ,`\n]')

    @unittest.skipUnless(shutil.which('groff'), 'groff is not installed')
    def test_groff_finds_nothing_wrong_with_the_manual(self):
        for program in PROGRAMS.values():
            done = subprocess.run(['groff', '-man', '-Tutf8', '-ww'], input=run(program, 'page', 'man'),
                                  capture_output=True, text=True, timeout=120, check=True)
            self.assertEqual(done.stderr, '')
            self.assertIn('SYNOPSIS', re.sub(r'.\x08', '', done.stdout))

    def test_bash_completes_commands_and_flags_of_every_program(self):
        for name, typed, expected in (('recprobe', ['do'], 'doctor'), ('rectrain', ['train', '--weight-d'], '--weight-decay'),
                                      ('recpack', ['verify', '--dec'], '--decode')):
            with self.subTest(name), tempfile.NamedTemporaryFile('w') as script:
                script.write(run(PROGRAMS[name], 'completion', 'bash'))
                script.flush()
                words = ' '.join([name, *typed])
                said = run('bash', '-c', f'. {script.name}; COMP_WORDS=({words}); COMP_CWORD={len(typed)}; '
                                         f'_{name}; echo "${{COMPREPLY[*]}}"')
                self.assertEqual(said.split(), [expected])

    @unittest.skipUnless(shutil.which('fish'), 'fish is not installed')
    def test_fish_completes_every_program(self):
        for name, line, expected in (('recprobe', 'recprobe doct', 'doctor'),
                                     ('rectrain', 'rectrain train --weight-d', '--weight-decay')):
            with self.subTest(name), tempfile.NamedTemporaryFile('w') as script:
                script.write(run(PROGRAMS[name], 'completion', 'fish'))
                script.flush()
                said = run('fish', '--no-config', '-c', f'. {script.name}; complete -C "{line}"')
                self.assertEqual([one.split('\t')[0] for one in said.splitlines()], [expected])


if __name__ == '__main__':
    unittest.main()
