"""Tests that the hook does not disturb programs: errors, exits, full disks, processes."""
import resource
import signal
import unittest

from support import HookTest, Told

TRAIN = 'train(DataLoader(Items(3)), SGD())'


class Errors(HookTest):

    def test_exceptions_pass_with_the_frames_of_the_program(self):
        told = self.run_program('''
            import traceback
            class Bad:
                def __iter__(self):
                    yield 1
                    raise OSError(5, 'of mine')
            try:
                for _ in DataLoader(Bad()): SGD().step()
            except OSError as error:
                assert error.errno == 5 and error.__context__ is None
                print([f.name for f in traceback.extract_tb(error.__traceback__)])
            ''')
        self.assertEqual(told.out, "['<module>', 'timed_by_recprobe', '__next__', "
                                   "'_next_data', '__iter__']\n")
        self.assertEqual(told.names().count('DataLoader'), 2)

    def test_the_end_carries_its_value(self):
        told = self.run_program('''
            class Ends:
                def __iter__(self): return self
                def __next__(self): raise StopIteration('the value')
            try:
                next(iter(DataLoader(Ends())))
            except StopIteration as end:
                print(end.value)
            ''')
        self.assertEqual(told.out, 'the value\n')

    def test_an_interrupt_passes_and_what_follows_is_told(self):
        told = self.run_program('''
            class Interrupted:
                def __iter__(self):
                    yield 1
                    raise KeyboardInterrupt
            optimizer = SGD()
            try:
                for _ in DataLoader(Interrupted()): pass
            except KeyboardInterrupt:
                train(DataLoader(Items(3)), optimizer)
            ''')
        self.expect_steps(told, 3)

    def test_a_fault_of_the_hook_is_a_notice(self):
        told = self.run_program('''
            class Odd(DataLoader):
                @property
                def dataset(self): return Items(3)
                @dataset.setter
                def dataset(self, value): pass
            class Worse(type(iter(Odd(1)))):
                @property
                def _dataset(self): raise RuntimeError('not now')
                @_dataset.setter
                def _dataset(self, value): pass
            for _ in Worse(Odd(1)): print('a batch')
            ''')
        self.assertEqual(told.out, 'a batch\n' * 3)
        self.assertIn("A wait for input was not recorded: RuntimeError('not now')", told.notices)
        self.assertEqual(told.notices.count('not now'), 1)

    def test_data_sets_without_references_or_hashes(self):
        told = self.run_program('''
            class Bare:
                __slots__ = ()
                __hash__ = None
                def __iter__(self): return iter(range(3))
            items = Bare()
            optimizer = SGD()
            train(DataLoader(items), optimizer)
            train(DataLoader(items), optimizer)
            ''')
        self.expect_steps(told, 6)
        self.assertEqual(told.notices, '')


class Files(HookTest):

    def test_a_full_disk(self):
        whole = 100 * 40
        told = self.run_program(
            TRAIN.replace('3', '200') + "; print('done')",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (whole, whole)))
        self.assertEqual((told.out, told.err), ('done\n', ''))
        self.assertGreater(len(told.steps()), 10)
        self.assertEqual([p.suffix for p in sorted(self.events.iterdir())], ['.events', '.lost'])

    def test_a_record_that_is_half_there_is_the_last(self):
        process = self.start('''
            import resource
            _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4010, hard))
            train(DataLoader(Items(200)), SGD())
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
            train(DataLoader(Items(200)), SGD())
            ''')
        self.assertEqual(process.communicate(), ('', ''))
        size = (self.events / f'{process.pid}-python.events').stat().st_size
        self.assertEqual(size, 4010)

    def test_a_folder_that_is_not_there(self):
        told = self.run_program(TRAIN, env={'RECPACK_EVENTS': str(self.folder / 'none')})
        self.assertEqual((told.out, told.err, told.files), ('', '', {}))

    def test_the_files_own_number_is_out_of_the_programs_way(self):
        told = self.run_program('''
            import os
            train(DataLoader(Items(3)), SGD())
            os.closerange(3, 256)
            with open(__file__ + '.out', 'w') as file:
                train(DataLoader(Items(3)), SGD())
            print(os.path.getsize(__file__ + '.out'))
            ''')
        self.assertEqual(told.out, '0\n')
        self.expect_steps(told, 6)


class Processes(HookTest):

    def test_a_wait_that_lasts_is_seen(self):
        process = self.start('''
            class Stuck:
                def __iter__(self):
                    yield 1
                    print('stuck', flush=True)
                    time.sleep(1000)
            train(DataLoader(Stuck()), SGD())
            ''')
        try:
            self.assertEqual(process.stdout.readline(), 'stuck\n')
            waits = [e for e in Told(self.events, process.pid).events if e.name == 'DataLoader']
            self.assertEqual((waits[-1].open, waits[-1].end), (True, 0))
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate()

    def test_a_forked_child_has_its_own_file(self):
        told = self.run_program('''
            import os
            optimizer = SGD()
            train(DataLoader(Items(3)), optimizer)
            child = os.fork()
            train(DataLoader(Items(4)), optimizer)
            if child: os.waitpid(child, 0); print(child)
            else: os._exit(0)
            ''')
        self.expect_steps(told, 7)
        child = Told(self.events, int(told.out))
        self.expect_steps(child, 4)
        self.assertEqual(len(told.files), 2)

    def workers(self, method):
        told = self.run_program(f'''
            import multiprocessing
            def work(queue):
                for batch in DataLoader(Items(20)): queue.put(batch)
                queue.put(None)
            if __name__ == '__main__':
                method = multiprocessing.get_context({method!r})
                queue = method.Queue()
                worker = method.Process(target=work, args=(queue,))
                worker.start()
                class Fetched:
                    def __iter__(self): return iter(queue.get, None)
                train(DataLoader(Fetched()), SGD())
                worker.join()
            ''')
        self.expect_steps(told, 20)
        others = [events for events in told.files.values() if events is not told.events]
        self.assertEqual([e for events in others for e in events if e.name != 'parent process'], [])

    def test_forked_workers_are_silent(self):
        self.workers('fork')

    def test_spawned_workers_are_silent(self):
        self.workers('spawn')

    def test_workers_of_a_server_are_silent(self):
        self.workers('forkserver')

    def test_trainers_that_multiprocessing_starts_are_heard(self):
        for method in 'fork', 'spawn':
            with self.subTest(method):
                told = self.run_program(f'''
                    import multiprocessing
                    def work(items): train(DataLoader(items), SGD())
                    if __name__ == '__main__':
                        method = multiprocessing.get_context({method!r})
                        worker = method.Process(target=work, args=(Items(5),))
                        worker.start(); worker.join()
                        print(worker.pid, worker.exitcode)
                    ''')
                pid, code = told.out.split()
                self.assertEqual(code, '0')
                worker = Told(self.events, int(pid))
                self.expect_steps(worker, 5)
                self.assertEqual(worker.names(), ['iter(DataLoader)'] + ['DataLoader'] * 6)


if __name__ == '__main__':
    unittest.main()
