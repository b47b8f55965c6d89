"""Tests how the hook is loaded into a program, and what it must not change."""
import os
import shutil
import subprocess
import sys
import unittest

from support import HERE, HOOK, HookTest

TRAIN = 'train(DataLoader(Items(3)), SGD())'
HOOKED = "print('recprobe_hook.events' in sys.modules)"


class Start(HookTest):

    def hooked(self, *flags, env=None, text=HOOKED):
        told = self.run_program(text, *flags, prelude='import sys\n', env=env)
        return told.out == 'True\n', bool(told.files)

    def test_a_program_is_hooked_and_its_file_says_so(self):
        self.assertEqual(self.hooked(), (True, True))

    def test_options_that_ignore_the_environment_keep_it_out(self):
        for flag in '-S', '-I', '-E':
            with self.subTest(flag):
                self.assertEqual(self.hooked(flag), (False, False))

    def test_it_can_be_switched_off(self):
        self.assertEqual(self.hooked(env={'RECPACK_PYTHON_HOOK': '0'}), (False, False))

    def test_nobody_watches(self):
        self.assertEqual(self.hooked(env={'RECPACK_EVENTS': ''}), (False, False))

    def test_the_programs_path_is_what_it_would_be(self):
        print_path = 'print([p for p in sys.path if p])'
        told = self.run_program(print_path, prelude='import sys\n')
        self.assertNotIn(str(HOOK), told.out)
        self.assertIn(str(self.libraries), told.out)

    def test_little_is_imported_where_nothing_is_trained(self):
        told = self.run_program('print(sorted(m for m in sys.modules if "recprobe" in m))',
                                prelude='import sys\n')
        self.assertEqual(told.out, "['recprobe_hook', 'recprobe_hook.events', "
                                   "'recprobe_hook.imports']\n")

    def test_a_program_started_by_the_program_is_hooked(self):
        told = self.run_program('''
            import subprocess
            subprocess.run([sys.executable, '-c', 'pass'], check=True)
            ''', prelude='import sys\n')
        self.assertEqual(len(told.files), 2)

    def test_a_replaced_program_goes_on_in_the_same_file(self):
        told = self.run_program('''
            import os
            train(DataLoader(Items(2)), SGD())
            if len(sys.argv) == 1: os.execv(sys.executable, [sys.executable, __file__, 'again'])
            ''')
        self.assertEqual([s.value for s in told.steps()], [0, 1, 0, 1])

    def test_in_a_virtual_environment(self):
        venv = self.folder / 'venv'
        subprocess.run([sys.executable, '-m', 'venv', '--without-pip', str(venv)], check=True)
        self.python = str(venv / 'bin/python')
        self.expect_steps(self.run_program(TRAIN), 3)

    def test_what_was_imported_before_is_hooked(self):
        venv = self.folder / 'venv'
        subprocess.run([sys.executable, '-m', 'venv', '--without-pip', str(venv)], check=True)
        packages = next(venv.glob('lib/python*/site-packages'))
        (packages / 'early.pth').write_text('import torch\n')  # run ahead of sitecustomize
        self.python = str(venv / 'bin/python')
        self.expect_steps(self.run_program(TRAIN), 3)


    def test_the_interpreter_ends_when_threads_have_begun(self):
        """Python frees the state of one that has not, which is then used."""
        told = self.run_program('''
            import _thread, os, time, types
            from recprobe_hook import own_threads
            def late(work, _):
                def begin():
                    time.sleep(0.2)
                    work()
                _thread.start_new_thread(begin, ())
            own_threads._thread = types.SimpleNamespace(allocate_lock=_thread.allocate_lock, start_new_thread=late)
            own_threads.start(lambda: os.write(1, b'begun\\n'))
            ''', prelude='')
        self.assertEqual(told.out, 'begun\n')


class Customized(HookTest):
    """Tests the sitecustomize that the hook hides."""

    def customized(self, text, program='print(told)', name='sitecustomize', **options):
        folder = self.folder / 'site'
        folder.mkdir()
        (folder / f'{name}.py').write_text(text)
        path = os.pathsep.join([str(HOOK), str(folder), str(self.libraries)])
        return self.run_program(program, env={'PYTHONPATH': path}, **options)

    def test_it_runs_as_if_nothing_hid_it(self):
        told = self.customized('import builtins\nbuiltins.told = __file__\n',
                               'import sitecustomize\nprint(told == sitecustomize.__file__)\n'
                               + TRAIN)
        self.assertEqual(told.out, 'True\n')
        self.expect_steps(told, 3)

    def test_its_errors_are_told_as_ever(self):
        told = self.customized('raise ValueError("of mine")\n', TRAIN)
        self.assertIn('ValueError: of mine', told.err)
        self.expect_steps(told, 3)

    def test_that_of_the_user_runs_too(self):
        told = self.run_program('import site; print(site.ENABLE_USER_SITE)', prelude='')
        if told.out != 'True\n':
            self.skipTest('no site of the user here')
        base = self.folder / 'user'
        found = subprocess.run([sys.executable, '-c', 'import site; print(site.getusersitepackages())'],
                               env={**os.environ, 'PYTHONUSERBASE': str(base)}, check=True,
                               stdout=subprocess.PIPE, text=True)
        packages = found.stdout.strip()
        os.makedirs(packages)
        with open(packages + '/usercustomize.py', 'w') as file:
            file.write('import builtins\nbuiltins.told = "user"\n')
        told = self.run_program('print(told)\n' + TRAIN, env={'PYTHONUSERBASE': str(base)})
        self.assertEqual(told.out, 'user\n')
        self.expect_steps(told, 3)


class Left(HookTest):
    """Tests what a program can observe."""

    def test_modules_and_classes_are_the_programs(self):
        told = self.run_program('''
            import inspect, pickle
            from importlib.machinery import SourceFileLoader
            from torch.utils.data import dataloader
            loader = dataloader.__spec__.loader
            assert type(loader) is SourceFileLoader and loader is dataloader.__loader__
            assert 'exec_module' not in vars(loader)
            base = dataloader._BaseDataLoaderIter
            assert 'def __next__' in inspect.getsource(base)
            assert base.__next__.__qualname__ == '_BaseDataLoaderIter.__next__'
            assert base.__next__.__module__ == 'torch.utils.data.dataloader'
            assert isinstance(iter(DataLoader(Items(1))), base)
            assert pickle.loads(pickle.dumps(DataLoader(Items(3)))).dataset.count == 3
            assert SGD().step() == 'stepped'
            ''')
        self.assertEqual(told.notices, '')

    def test_a_module_that_fails_fails_as_ever(self):
        libraries = self.folder / 'libraries'
        shutil.copytree(HERE / 'libraries', libraries)
        with open(libraries / 'torch/utils/data/dataloader.py', 'a') as file:
            file.write('raise KeyError("no such thing")\n')
        self.libraries = libraries
        told = self.run_program('import torch', prelude='', code=1)
        self.assertIn("KeyError: 'no such thing'", told.err)

    def test_a_library_that_is_not_as_expected_is_told(self):
        libraries = self.folder / 'libraries'
        shutil.copytree(HERE / 'libraries', libraries)
        path = libraries / 'torch/optim/optimizer.py'
        path.write_text(path.read_text().replace('register_optimizer_step_post_hook', 'other'))
        self.libraries = libraries
        told = self.run_program(TRAIN)
        self.assertIn('Optimizer steps are not seen', told.notices)
        self.expect_steps(told, 3, 'batch')

    def test_reloading_hooks_once(self):
        told = self.run_program('''
            import importlib
            importlib.reload(torch.utils.data.dataloader)
            train(torch.utils.data.dataloader.DataLoader(Items(3)), SGD())
            ''')
        self.assertEqual(told.names(), ['iter(DataLoader)'] + ['DataLoader'] * 4)


if __name__ == '__main__':
    unittest.main()
