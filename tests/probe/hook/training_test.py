"""Tests the waits and steps that the hook records for typical loops, with a fake of PyTorch."""
import unittest

from support import RANGE, HookTest

BACKGROUND = 'input in a background thread'


class Training(HookTest):

    def test_waits_are_as_long_as_the_program_itself_finds_them(self):
        told = self.run_program('''
            optimizer = SGD()
            batches = iter(DataLoader(Items(5, delay=0.01)))
            for _ in range(5):
                begin = time.monotonic_ns()
                next(batches)
                print(begin, time.monotonic_ns())
                optimizer.step()
            ''')
        own = [tuple(map(int, line.split())) for line in told.out.splitlines()]
        waits = told.waits('DataLoader')
        self.assertEqual(len(waits), 5)
        for (begin, end), wait in zip(own, waits):
            self.assertTrue(begin <= wait.begin < wait.end <= end)
            self.assertGreaterEqual(wait.end - wait.begin, 10_000_000)
        self.expect_steps(told, 5)
        self.assertEqual(told.notices, '')
        for step, wait in zip(told.steps(), waits):
            self.assertTrue(step.begin <= wait.begin < wait.end <= step.end)

    def test_what_the_thread_itself_ran_in_its_waits(self):
        told = self.run_program('''
            class Busy(Items):
                def __iter__(self):
                    for i in range(self.count):
                        end = time.thread_time() + 0.02
                        while time.thread_time() < end: pass
                        yield i
            train(DataLoader(Items(5, delay=0.02)), SGD())
            train(DataLoader(Busy(5)), SGD())
            ''')
        ran = [wait.value for wait in told.waits('DataLoader')]
        self.assertEqual(len(ran), 12)  # the sixth of each finds no more
        self.assertLess(sorted(ran[:5])[2], 10_000_000)  # a hypervisor may take time unseen
        self.assertGreaterEqual(min(ran[6:11]), 19_000_000)  # of its own clock it sees less

    def test_a_wait_is_told_when_it_begins_and_again_when_it_ends(self):
        told = self.run_program('train(DataLoader(Items(2)), SGD())')
        waits = [e for e in told.events if e.name == 'DataLoader']
        self.assertEqual([w.open for w in waits], [True, False] * 3)  # the last finds no more
        for opened, closed in zip(waits[::2], waits[1::2]):
            self.assertEqual((opened.begin, opened.end), (closed.begin, 0))
        self.assertEqual(len(told.waits('iter(DataLoader)')), 1)

    def test_steps_follow_each_other_over_epochs(self):
        told = self.run_program('''
            optimizer, items = SGD(), Items(3)
            for _ in range(2): train(DataLoader(items), optimizer)
            ''')
        self.expect_steps(told, 6)
        steps = told.steps()
        for one, other in zip(steps, steps[1:]):
            self.assertEqual(one.end, other.begin)

    def test_accumulated_gradients_are_one_step(self):
        told = self.run_program('''
            optimizer = SGD()
            for i, _ in enumerate(DataLoader(Items(8))):
                if i % 4 == 3: optimizer.step()
            ''')
        self.expect_steps(told, 2)
        self.assertEqual(told.names().count('DataLoader'), 9)

    def test_a_rank_tells_which_one_it_is_once(self):
        program = '''
            import torch.distributed
            train(DataLoader(Items(5)), SGD())
            '''
        told = self.run_program(program, env={'RANK': '3', 'WORLD_SIZE': '8'})
        self.assertEqual([(e.begin == e.end, e.value) for e in told.closed(RANGE, 'rank')],
                         [(True, 8 << 32 | 3)])
        told = self.run_program('''
            import os, torch.distributed
            optimizer = SGD()
            train(DataLoader(Items(2)), optimizer)
            os.environ.update(RANK='1', WORLD_SIZE='2')
            train(DataLoader(Items(2)), optimizer)
            ''')
        self.assertEqual([e.value for e in told.closed(RANGE, 'rank')], [2 << 32 | 1])
        for alone in ({'RANK': '0', 'WORLD_SIZE': '1'}, {}):
            told = self.run_program(program, env=alone)
            self.assertEqual(told.closed(RANGE, 'rank'), [])
            self.assertEqual(told.notices, '')

    def test_a_rank_tells_how_long_it_waits_for_the_others(self):
        told = self.run_program('''
            from torch.nn.parallel import DistributedDataParallel
            measured = DistributedDataParallel.measured
            measured.update(iteration=7, forward_compute_time=2000, backward_compute_time=5000,
                            backward_comm_time=900, backward_compute_comm_overlap_time=300)
            model, optimizer = DistributedDataParallel(None), SGD()
            for i, _ in enumerate(DataLoader(Items(45))):
                optimizer.step()
                if i == 24: measured.update(iteration=25, backward_comm_time=301)
            assert model.rate == 11
            ''')
        self.assertEqual([(e.end - e.begin, e.value) for e in told.closed(RANGE, 'gradient exchange')],
                         [(600, 7000), (1, 7000)])
        self.assertEqual(told.notices, '')

    def test_a_model_that_does_not_measure_itself_is_a_notice(self):
        told = self.run_program('''
            from torch.nn.parallel import DistributedDataParallel
            del DistributedDataParallel._set_ddp_runtime_logging_sample_rate
            DistributedDataParallel(None)
            train(DataLoader(Items(41)), SGD())
            ''')
        self.assertEqual(told.closed(RANGE, 'gradient exchange'), [])
        self.assertIn('Waits of ranks for each other are not seen', told.notices)

    def test_the_settings_of_the_trainings_loader_are_told_once(self):
        told = self.run_program('''
            optimizer, items = SGD(), Items(3)
            loader = DataLoader(items, 4, 2, persistent_workers=True)
            train(loader, optimizer)
            train(DataLoader(Items(3), 9), optimizer)
            ''')
        place, = self.places('loader = DataLoader')
        self.assertEqual(self.settings(told), [(place, 1 << 40 | 1 << 34 | 1 << 32 | 2 << 16 | 4)])
        self.assertEqual(told.notices, '')

    def test_a_loader_that_a_library_makes_has_no_place(self):
        (self.folder / 'lightning').mkdir()
        (self.folder / 'lightning/__init__.py').write_text(
            'from torch.utils.data import DataLoader\ndef make(items): return DataLoader(items, 4)\n')
        told = self.run_program('''
            import lightning
            lightning.__file__ = lightning.make.__code__.co_filename
            lightning.make.__code__ = lightning.make.__code__.replace(
                co_filename='/usr/lib/python3/dist-packages/lightning/__init__.py')
            train(lightning.make(Items(3)), SGD())
            ''')
        self.assertEqual(self.settings(told), [('', 1 << 40 | 1 << 34 | 4)])

    def test_a_loader_that_is_made_for_each_epoch(self):
        told = self.run_program('''
            optimizer = SGD()
            for _ in range(9):
                loader = DataLoader(Items(2), 2)
                train(loader, optimizer)
            for _ in range(9):
                train(loader, optimizer)
            ''')
        place, = self.places('loader = DataLoader')
        self.assertEqual(self.settings(told), [(place, 1 << 40 | made << 34 | 2) for made in (1, 2, 4, 8)])

    def test_loaders_of_one_line_that_take_turns_are_not_made_anew(self):
        told = self.run_program('''
            optimizer = SGD()
            loaders = [DataLoader(Items(2), 2) for _ in range(2)]
            for _ in range(9):
                for loader in loaders: train(loader, optimizer)
            ''')
        place, = self.places('loaders = ')
        self.assertEqual(self.settings(told), [(place, 1 << 40 | made << 34 | 2) for made in (1, 2)])

    def test_a_loader_with_a_hash_of_its_own(self):
        told = self.run_program('''
            import inspect
            class Own(DataLoader):
                def __hash__(self): return hash(id(self.dataset))
                def __eq__(self, other): raise ValueError
            assert 'num_workers' in inspect.getfullargspec(DataLoader.__init__).args
            train(Own(Items(3), 2), SGD())
            ''')
        place, = self.places('train(Own(')
        self.assertEqual(self.settings(told), [(place, 1 << 40 | 1 << 34 | 2)])
        self.assertEqual(told.notices, '')

    def settings(self, told):
        """Returns where loaders were made, and their settings."""
        told = [e for e in told.events if e.name.partition('\t')[0] == 'input settings']
        return [(e.name.partition('\t')[2], e.value) for e in told]

    def places(self, text):
        program = self.folder / 'program.py'
        return [f'{program}:{number}' for number, line in enumerate(program.read_text().splitlines(), 1)
                if text in line]

    def test_several_optimizers_in_a_loop_are_one_step(self):
        told = self.run_program('''
            one, other = SGD(), SGD()
            for _ in DataLoader(Items(3)):
                one.step(); other.step()
            ''')
        self.expect_steps(told, 3)

    def test_several_steps_on_one_batch_are_several(self):
        told = self.run_program('''
            optimizer = SGD()
            batch = next(iter(DataLoader(Items(1))))
            for _ in range(5): optimizer.step()
            ''')
        self.expect_steps(told, 5)

    def test_without_input_steps_are_from_one_to_the_next(self):
        told = self.run_program('''
            optimizer = SGD()
            for _ in range(5): optimizer.step()
            ''')
        self.expect_steps(told, 4)  # when the first began is not known

    def test_iterators_within_each_other_count_once(self):
        told = self.run_program('''
            class Outer:
                def __iter__(self): return iter(DataLoader(Items(3)))
            train(DataLoader(Outer()), SGD())
            ''')
        self.assertEqual(told.names(), ['iter(DataLoader)'] + ['DataLoader'] * 4)
        self.expect_steps(told, 3)

    def test_two_loaders_in_one_step_are_both_the_trainings(self):
        told = self.run_program('''
            optimizer = SGD()
            one, other = Items(4), Items(4)
            for _ in range(2):
                for _ in zip(DataLoader(one), DataLoader(other)): optimizer.step()
            ''')
        self.assertNotIn('evaluation', told.names())
        self.expect_steps(told, 8)

    def test_the_end_of_the_program_ends_the_last_step(self):
        told = self.run_program('''
            optimizer = SGD()
            for _ in DataLoader(Items(9)):
                optimizer.step()
                break
            sys.exit(3)
            ''', code=3)
        self.expect_steps(told, 1)

    def test_what_was_told_survives_a_hard_end(self):
        told = self.run_program('''
            import os
            train(DataLoader(Items(3)), SGD())
            os._exit(0)
            ''')
        self.expect_steps(told, 3)


class Evaluation(HookTest):

    def test_without_gradients_it_is_told_apart(self):
        told = self.run_program('''
            optimizer, items, others = SGD(), Items(3), Items(4, delay=0.01)
            for _ in range(2):
                train(DataLoader(items), optimizer)
                with torch.no_grad():
                    for _ in DataLoader(others): pass
            ''')
        self.assertEqual(told.names().count('evaluation'), 2 * 6)
        self.assertEqual(told.names().count('DataLoader'), 2 * 4)
        self.expect_steps(told, 6)
        for wait in told.waits('evaluation'):
            for step in told.steps():
                self.assertTrue(wait.end <= step.begin or wait.begin >= step.end)

    def test_on_the_trainings_data_too(self):
        told = self.run_program('''
            optimizer, items = SGD(), Items(3)
            train(DataLoader(items), optimizer)
            with torch.no_grad():
                for _ in DataLoader(items): pass
            ''')
        self.assertEqual(told.names().count('evaluation'), 5)

    def test_with_gradients_it_is_known_from_its_second_batch_on(self):
        told = self.run_program('''
            optimizer, items, others = SGD(), Items(3), Items(4)
            for _ in range(2):
                train(DataLoader(items), optimizer)
                for _ in DataLoader(others): pass
            ''')
        self.assertEqual(told.names().count('evaluation'), 4 + 6)  # its start and its first as well
        self.expect_steps(told, 6)

    def test_evaluations_that_record_gradients_are_in_no_step(self):
        for before, after in ((3, 1), (1, 3)):
            told = self.run_program(f"""
                optimizer, items = SGD(), Items(4)
                def evaluate(count):
                    begin = time.monotonic_ns()
                    for _ in DataLoader(Items(count, delay=0.01)): pass
                    print(begin, time.monotonic_ns())
                evaluate({before})
                train(DataLoader(items), optimizer)
                evaluate({after})
                train(DataLoader(items), optimizer)
                """)
            self.expect_steps(told, 8)
            for line in told.out.splitlines():
                begin, end = map(int, line.split())
                self.assertFalse([s for s in told.steps() if s.begin < end and s.end > begin],
                                 (before, after))

    def test_before_the_training_it_is_told_apart(self):
        told = self.run_program('''
            optimizer, items, others = SGD(), Items(3), Items(4)
            with torch.no_grad():
                for _ in DataLoader(others): pass
            train(DataLoader(items), optimizer)
            ''')
        self.assertEqual(told.names().count('evaluation'), 6)
        self.expect_steps(told, 3)

    def test_a_new_data_set_each_epoch_is_the_trainings(self):
        told = self.run_program('''
            optimizer = SGD()
            for _ in range(4): train(DataLoader(Items(3)), optimizer)
            ''')
        self.assertNotIn('evaluation', told.names())
        self.expect_steps(told, 12)


class WithoutOptimizer(HookTest):
    """Tests steps between two batches."""

    def test_steps_lie_between_batches(self):
        told = self.run_program('''
            items = Items(4)
            for _ in range(2):
                for _ in DataLoader(items): pass
            ''')
        self.expect_steps(told, 8, 'batch')

    def test_the_second_source_is_an_evaluation(self):
        told = self.run_program('''
            items, others = Items(5), Items(4)
            for _ in range(2):
                for _ in DataLoader(items): pass
                for _ in DataLoader(others): pass
            ''')
        self.expect_steps(told, 10, 'batch')
        self.assertGreaterEqual(told.names().count('evaluation'), 4 + 6)

    def test_two_sources_side_by_side_are_one_training(self):
        told = self.run_program('''
            for _ in zip(DataLoader(Items(5)), DataLoader(Items(5))): pass
            ''')
        self.expect_steps(told, 5, 'batch')
        self.assertNotIn('evaluation', told.names())

    def test_a_long_training_takes_over_from_what_came_first(self):
        told = self.run_program('''
            for _ in DataLoader(Items(5)): pass
            for _ in DataLoader(Items(100)): pass
            ''')
        self.assertGreater(len(told.steps()), 80)
        self.assertEqual(told.names()[-1], 'DataLoader')

    def test_a_new_data_set_in_the_same_loop_is_the_same_source(self):
        told = self.run_program('''
            def batches(items):
                yield from DataLoader(items)
            for _ in range(3):
                for _ in batches(Items(4)): pass
                for _ in batches(Items(3)): pass
            ''')
        self.expect_steps(told, 12, 'batch')

    def test_an_optimizer_that_nobody_sees_stepping_is_said(self):
        told = self.run_program('''
            SGD()
            for _ in DataLoader(Items(100)): pass
            ''')
        self.assertIn('its steps are not seen', told.notices)
        self.assertGreater(len(told.steps()), 30)


class Threads(HookTest):

    def fetched_by_a_thread(self, kind, more=''):
        return self.run_program(f'''
            import queue, threading
            fetched = first = queue.{kind}
            def fetch():
                for batch in DataLoader(Items(30, delay=0.001)): first.put(batch)
                first.put(None)
            threading.Thread(target=fetch).start()
            {more}
            optimizer = SGD()
            while fetched.get() is not None: optimizer.step()
            ''')

    def stepping(self, before=''):
        return self.run_program(before + """
            optimizer = SGD()
            for _ in range(5): optimizer.step()
            """)

    def test_steps_without_batches_are_told(self):
        self.assertIn('their thread requested no batch', self.stepping().notices)

    def test_batches_of_recpacks_own_loader_are_reported_by_it(self):
        self.assertEqual(self.stepping("""
            import sys, types
            sys.modules['recpack_io.loading'] = types.ModuleType('recpack_io.loading')
            """).notices, '')

    def test_a_queue_between_a_background_thread_and_the_trainer_is_its_input(self):
        relay = (
            "fetched = queue.Queue()\n"
            "            def relay():\n"
            "                while (batch := first.get()) is not None: fetched.put(batch)\n"
            "                fetched.put(None)\n"
            "            threading.Thread(target=relay).start()")
        for more in ('', relay):
            told = self.fetched_by_a_thread('Queue(2)', more)
            self.assertEqual(told.notices, '')
            # A call that began before the queue was known to carry input is not recorded.
            self.assertIn(told.names(), [['queue'] * count for count in (29, 30, 31)])
            trainer = told.steps()[0].lane
            self.assertEqual({wait.lane for wait in told.waits()}, {trainer})
            self.assertGreater(sum(w.end - w.begin for w in told.waits()), 20_000_000)
            self.assertIn(len(told.steps()), (28, 29, 30))

    def test_other_queues_are_none(self):
        told = self.run_program('''
            import queue, threading
            results, done = queue.Queue(), queue.Queue()
            def work():
                while (item := results.get()) is not None: done.put(item)
            threading.Thread(target=work).start()
            optimizer = SGD()
            for batch in DataLoader(Items(5)):
                results.put(batch)
                done.get()
                optimizer.step()
            results.put(None)
            ''')
        self.assertEqual(set(told.names()), {'iter(DataLoader)', 'DataLoader'})
        self.expect_steps(told, 5)

    def test_a_background_thread_does_not_wait_for_the_trainer(self):
        told = self.fetched_by_a_thread('SimpleQueue()')
        self.assertEqual(told.waits(), [])
        self.assertIn('their thread requested no batch', told.notices)
        background = told.closed(RANGE, BACKGROUND)
        self.assertGreater(len(background), 0)
        self.assertLess(len(background), 32)  # only some of them are recorded, as they may be many
        self.expect_steps(told, 29)
        self.assertNotIn(background[0].lane, [s.lane for s in told.steps()])

    def test_a_thread_that_steps_the_optimizer_is_the_trainer(self):
        told = self.run_program('''
            import threading
            thread = threading.Thread(target=train, args=(DataLoader(Items(5)), SGD()))
            thread.start(); thread.join()
            ''')
        self.assertEqual(told.names(), ['iter(DataLoader)'] + ['DataLoader'] * 6)
        self.assertEqual(told.closed(RANGE, BACKGROUND), [])
        self.expect_steps(told, 5)

    def test_a_thread_of_a_library_steps_for_the_main_thread(self):
        told = self.run_program('''
            import _thread
            optimizer = SGD()
            for _ in DataLoader(Items(4)):
                done = _thread.allocate_lock(); done.acquire()
                _thread.start_new_thread(lambda: (optimizer.step(), done.release()), ())
                done.acquire()
            ''')
        self.assertEqual(told.names().count('DataLoader'), 5)
        self.expect_steps(told, 4)

    def test_two_trainers_are_two(self):
        told = self.run_program('''
            import threading
            threads = [threading.Thread(target=train, args=(DataLoader(Items(20)), SGD()))
                       for _ in range(2)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            ''')
        self.assertEqual(len({s.lane for s in told.steps()}), 2)
        self.assertEqual(sorted(s.value for s in told.steps()), list(range(40)))
        self.assertEqual(told.names().count('DataLoader'), 42, told.events)

    def test_the_interpreter_lock_is_not_let_go(self):
        # Threads switch only when one releases the lock: the other must not have run meanwhile.
        told = self.run_program('''
            import threading
            count, end, gate = 0, False, threading.Lock()
            def hog():
                global count
                with gate:
                    while not end and count < 50_000_000: count += 1
            thread = threading.Thread(target=hog)
            optimizer = SGD()
            class NoSleep:
                def __iter__(self): return iter(range(20000))
            batches = iter(DataLoader(NoSleep()))
            next(batches); optimizer.step()
            gate.acquire()
            thread.start()
            sys.setswitchinterval(1000)
            time.sleep(0.3)  # threads that requested the lock earlier get it
            gate.release()
            for _ in batches: optimizer.step()
            ran, end = count, True
            sys.setswitchinterval(0.001)
            print(ran)
            ''')
        self.expect_steps(told, 20000)
        self.assertEqual(told.out, '0\n')


if __name__ == '__main__':
    unittest.main()
