"""Tests rectrain train: output, checkpoints and errors."""
import json
import os
import re
import resource
import subprocess
import unittest
import unittest.mock

from store_case import StoreCase
from support import CIFAR, CliTest

RECTRAIN = os.environ['RECTRAIN']


class Train(CliTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / 'out'
        self.pack(CIFAR / 'cifar-10-batches-py')

    def train(self, *arguments, code=0):
        command = [RECTRAIN, 'train', self.out, '--width', '8', '--threads', '1', *arguments]
        if '--batch-size' not in arguments:
            command += ['--batch-size', '8']
        got = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual(got.returncode, code, got.stderr)
        return got

    def test_prints_a_line_an_epoch(self):
        got = self.train('--epochs', '2')
        lines = got.stdout.splitlines()
        self.assertEqual(len(lines), 3)
        self.assertRegex(lines[0], r'^epoch 0: loss \d+\.\d+, accuracy .* %; evaluation: loss ')
        self.assertRegex(lines[2], r'^inputs: real \d+ samples/s$')
        self.assertIn('cpu:0: CPU: oneDNN 3', got.stderr)

    def test_names_threads_and_their_settings(self):
        with unittest.mock.patch.dict(os.environ, {'OMP_WAIT_POLICY': 'passive', 'KMP_BLOCKTIME': '0'}):
            said = self.train('--max-steps', '1', '--no-evaluation', '--bind-threads').stderr
        self.assertRegex(said, r'1 threads, bound to processor \d+, OMP_WAIT_POLICY=passive, KMP_BLOCKTIME has no effect')
        self.assertNotIn('bound to', self.train('--max-steps', '1', '--no-evaluation').stderr)

    def test_tells_of_no_evaluation_where_there_was_none(self):
        for given, there in ((), True), (('--no-evaluation',), False):
            epoch, = json.loads(self.train('--epochs', '1', '--json', *given).stdout)['epochs']
            self.assertEqual([key in epoch for key in ('evaluation', 'evaluation_seconds')],
                             [there] * 2)

    def test_sizes_are_the_networks(self):
        self.run_recpack('stand-in', self.folder / 'made', '--kind', 'reviews', '--records', 100)
        self.pack(self.folder / 'made/reviews.jsonl', out='reviews')
        for data, model, sizes in [
                ('out', 'alexnet', {'dense': 24, 'classes': 11}),
                ('out', 'googlenet', {'stem': 3, 'classes': 11}),
                ('out', 'vgg11', {'dense': 24, 'classes': 11}),
                ('reviews', 'deepconn', {'max_tokens': 16, 'dims': 8, 'filters': 9, 'kernel': 5,
                                         'latent': 7, 'factors': 3, 'vocabulary': 60000})]:
            run = self.folder / f'run-{model}'
            flags = [f'--{name.replace("_", "-")}={value}' for name, value in sizes.items()]
            self.out = self.folder / data
            self.train('--model', model, *flags, '--max-steps', '2', '--no-evaluation',
                       '--checkpoints', run)
            content, = [path.read_bytes() for path in run.glob('*.safetensors')]
            told = json.loads(content[8:8 + int.from_bytes(content[:8], 'little')])['__metadata__']
            self.assertEqual((told['model'], told['step']), (re.sub(r'\d', '', model), '2'))
            options = json.loads(told['model_options'])
            self.assertEqual({name: options[name] for name in sizes}, sizes)

    def test_begins_with_word_vectors(self):
        self.run_recpack('stand-in', self.folder / 'made', '--kind', 'reviews', '--records', 100)
        self.pack(self.folder / 'made/reviews.jsonl', out='reviews')
        self.out = self.folder / 'reviews'
        tokens = (self.out / 'vocabulary.txt').read_text().split()[2:]
        vectors = self.folder / 'vectors.txt'
        vectors.write_text(''.join(f'{token} 0.5 1 -2\n' for token in [*tokens[:3], 'no-token']))
        train = ('--model', 'deepconn', '--max-steps', '1', '--no-evaluation')
        got = self.train(*train, '--dims', '3', '--word-vectors', vectors)
        self.assertIn(f'3 of {len(tokens)} tokens have their vectors from {vectors}, which has 4 words; '
                      f'the other {len(tokens) - 3} begin with seeded values', got.stderr)
        got = self.train(*train, '--word-vectors', vectors, code=2)
        self.assertIn("its vectors have 3 values, and the model's have 64; give --dims 3", got.stderr)
        vectors.write_text(vectors.read_text()[:-3])
        got = self.train(*train, '--dims', '3', '--word-vectors', vectors, code=2)
        self.assertIn('line 4 has 2 values, and the first one has 3: the file is cut', got.stderr)

    def test_flags_change_the_training_or_do_not(self):
        def loss(*flags):
            told = self.train('--epochs', '1', '--no-evaluation', '--json', *flags).stdout
            return json.loads(told)['epochs'][0]['train']['loss']
        usual = loss()
        for flags in (('--bind-threads',), ('--steps-per-dispatch', '3'),
                      ('--cuda-graphs', 'off'), ('--weight-stream', 'off')):
            self.assertEqual(loss(*flags), usual, flags)
        for flags in ('--data-format', 'nchw'), ('--norm', 'unfused'):
            self.assertAlmostEqual(loss(*flags), usual, delta=0.05, msg=flags)
        losses = [usual] + [loss(*flags) for flags in (
            ('--optimizer', 'adam'), ('--momentum', '0.5'), ('--weight-decay', '0.1'),
            ('--warmup-epochs', '0'))]
        self.assertEqual(len(set(losses)), len(losses), losses)

    def test_says_which_memory_ended_and_leaves_what_was_there(self):
        run = self.folder / 'run'
        flags = ('--model', 'alexnet', '--dense', '40', '--checkpoints', run)
        self.train('--epochs', '1', *flags)
        before = {path.name: path.read_bytes() for path in run.iterdir()}
        limit = 3 << 30
        def limited(*arguments):
            return subprocess.run(
                [RECTRAIN, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        if limited('--version').returncode != 0:
            self.skipTest('the program does not begin in so little memory: it is being sanitized')
        got = limited('train', self.out, '--threads', '1', '--batch-size', '8', '--model',
                      'alexnet', '--dense', '40000', '--checkpoints', run, '--epochs', '2')
        self.assertEqual(got.returncode, 2, got.stderr)
        self.assertRegex(got.stderr, r'the CPU has no memory for \d+ more bytes, for the variables, '
                                     r'for batches of 8 samples on cpu:0; use a smaller --batch')
        self.assertEqual({path.name: path.read_bytes() for path in run.iterdir()}, before)

    def test_tells_of_bad_records(self):
        self.damage_records(5, 40)
        self.assertIn('CRC', self.train('--epochs', '1', code=2).stderr)
        ledger = self.folder / 'ledger'
        substitute = ('--epochs', '2', '--on-bad-record', 'substitute', '--max-bad', '10%',
                      '--ledger', ledger)
        lines = self.train(*substitute).stdout.splitlines()
        self.assertRegex(lines[0], r'; 64 of 64 records, 2 substituted: all is well$')
        def lines():  # without what was only read ahead
            return [line for line in ledger.read_text().splitlines()
                    if json.loads(line)['epoch'] < 2]
        kept = lines()
        told = [json.loads(line) for line in kept]
        self.assertEqual({each['record'] for each in told}, {5, 40})
        self.assertEqual([each['epoch'] for each in told], [0, 0, 1, 1])
        epochs = json.loads(self.train(*substitute, '--json').stdout)['epochs']
        self.assertEqual([epoch['audit'] for epoch in epochs],
                         [{'holds': True, 'samples': 64, 'epoch_samples': 64, 'substituted': 2}] * 2)
        self.assertEqual(lines(), kept, 'the same once more')
        self.assertIn("not a share: '1x'", self.train('--max-bad', '1x', code=2).stderr)

    def test_compares_inputs(self):
        arguments = ('--epochs', '1', '--input', 'real,cached,synthetic', '--timed-steps', '2',
                     '--timed-rounds', '2')
        for devices in 'cpu:0', 'sim:1ms':
            got = self.train(*arguments, '--devices', devices)
            self.assertRegex(got.stdout.splitlines()[-1],
                             r'^inputs: real \d+ samples/s, cached \d+ samples/s, synthetic \d+ '
                             r'samples/s; real/cached \d\.\d+, real/synthetic \d\.\d+$')
            told = json.loads(self.train(*arguments, '--devices', devices, '--json').stdout)
            self.assertEqual(len(told['epochs']), 1)
            speeds = {each['input']: each['samples_per_s'] for each in told['inputs']}
            self.assertEqual(list(speeds), ['real', 'cached', 'synthetic'])
            self.assertEqual(told['ratios'], {f'real/{other}': speeds['real'] / speeds[other]
                                              for other in ('cached', 'synthetic')})
        alone = json.loads(self.train('--epochs', '1', '--input', 'cached', '--json').stdout)
        self.assertEqual([each['input'] for each in alone['inputs']], ['cached'])

    def test_strategies_give_the_same_losses(self):
        def losses(*arguments):
            stdout = self.train('--epochs', '1', '--devices', 'cpu:0,cpu:1', '--batch-size', '4',
                                *arguments).stdout
            return re.search(r'loss (\S+),', stdout)[1]
        replicated = losses()
        for place in 'cpu', 'device', 'spread':
            self.assertEqual(
                losses('--strategy', 'parameter_server', '--variables', place), replicated)

    def test_a_strategy_is_chosen_and_the_reason_printed(self):
        arguments = ('--epochs', '1', '--batch-size', '4', '--max-steps', '1', '--strategy', 'auto')
        for more, told in [
                (('--devices', 'cpu:0'), 'replicated, .* on 1 device: nothing is exchanged'),
                (('--devices', 'cpu:0,cpu:1'), 'replicated, .* on 2 devices: few variables, .*'),
                (('--devices', 'cpu:0,cpu:1', '--model', 'alexnet'),
                 r'parameter_server, variables on the CPU, for 2\d\.\d million .*: many variables, .*')]:
            err = self.train(*arguments, *more).stderr
            self.assertEqual(len(re.findall(f'^strategy: {told}$', err, re.M)), 1, err)
        self.assertIn('auto', self.train(*arguments, '--async', code=2).stderr)

    def test_dispatches_and_repeated_steps_give_the_same_losses(self):
        def epochs(*arguments):
            told = json.loads(self.train('--epochs', '2', '--json', *arguments).stdout)
            return [(epoch['train'], epoch['evaluation']) for epoch in told['epochs']]
        plain = epochs('--cuda-graphs', 'off')
        self.assertEqual(epochs('--cuda-graphs', 'on'), plain)
        self.assertEqual(epochs('--steps-per-dispatch', '3'), plain)
        got = self.train('--max-steps', '1', '--steps-per-dispatch', '3')
        self.assertIn('; 3 steps a dispatch', got.stderr)

    def test_goes_on_from_its_checkpoints(self):
        run = str(self.folder / 'run')
        whole = self.train('--epochs', '3').stdout.splitlines()
        self.train('--epochs', '3', '--checkpoints', run, '--checkpoint-steps', '1', '--keep', '2')
        self.assertEqual(len([f for f in os.listdir(run) if f.endswith('.safetensors')]), 2)
        last = sorted(f for f in os.listdir(run) if f.endswith('.safetensors'))[-2]
        rest = self.train('--epochs', '3', '--resume', f'{run}/{last}')
        self.assertIn('resuming from', rest.stderr)
        scores = re.compile(r'^.*accuracy \S+ %')  # up to the times
        self.assertEqual(scores.match(rest.stdout.splitlines()[-2])[0],
                         scores.match(whole[-2])[0])

    def test_goes_on_by_another_schedule_only_where_it_is_asked_to(self):
        run, planned = str(self.folder / 'run'), str(self.folder / 'planned')
        losses = lambda got: [epoch['train']['loss'] for epoch in json.loads(got.stdout)['epochs']]
        whole = losses(self.train('--epochs', '3', '--json'))
        self.train('--epochs', '2', '--checkpoints', run)
        refused = self.train('--epochs', '3', '--resume', run, code=2)
        for text in 'goes by 2 epochs', "this run's by 3", '--epochs 2', '--schedule-epochs 3':
            self.assertIn(text, refused.stderr)
        more = self.train('--epochs', '3', '--schedule-epochs', '3', '--resume', run, '--json')
        self.assertEqual(len(losses(more)), 1)
        self.assertIn('as was asked for', more.stderr)
        self.train('--epochs', '2', '--schedule-epochs', '3', '--checkpoints', planned)
        rest = self.train('--epochs', '3', '--resume', planned, '--json')
        self.assertEqual(losses(rest), whole[2:])
        self.assertNotIn('as was asked for', rest.stderr)

    def test_a_model_over_several_devices(self):
        def train(*arguments):
            command = [RECTRAIN, 'train', reviews, '--model', 'deepconn', '--max-tokens', '16',
                       '--threads', '1', '--batch-size', '16', '--epochs', '1', *arguments]
            return subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.run_recpack('stand-in', self.folder / 'made', '--kind', 'reviews', '--records', 200)
        reviews = self.folder / 'reviews'
        self.pack(self.folder / 'made/reviews.jsonl', out='reviews')
        places = ['--devices', 'cpu:0,cpu:1', '--place', 'user=cpu:0,item=cpu:1']
        epoch, = json.loads(train('--json', *places).stdout)['epochs']
        copies = epoch['transfers']
        self.assertEqual(copies['calls'], 4 * epoch['steps'])
        self.assertLessEqual(copies['shortest_seconds'], copies['longest_seconds'])
        placed = train('--log-placement', *places)
        self.assertIn('item.conv on cpu:1 reads embedding copied from cpu:0\n', placed.stderr)
        separate = train('--log-placement', '--embedding', 'separate', *places)
        self.assertIn('item.embedding on cpu:1 reads item_tokens copied from cpu:0\n', separate.stderr)
        self.assertIn(f"{copies['calls']} copies between devices", placed.stdout)
        self.assertNotIn('copies', train().stdout)
        missing = ['--devices', 'cpu:0,cuda:99', '--place', 'alternate']
        refused = train(*missing)
        self.assertEqual(refused.returncode, 2)
        self.assertIn('cuda:99', refused.stderr)
        soft = train('--soft-placement', *missing)
        self.assertEqual(soft.returncode, 0, soft.stderr)
        self.assertIn('cpu:1 takes the place of cuda:99', soft.stderr)

    def test_a_model_of_pictures_over_several_devices(self):
        def train(*arguments):
            return self.train('--epochs', '1', '--no-evaluation', *arguments)
        alone = train('--json', '--log-placement')
        self.assertIn('layer4.1 on cpu:0 reads layer4.0 there\n', alone.stderr)
        places = ('--devices', 'cpu:0,cpu:1', '--place', 'layer3=cpu:1,layer4=cpu:1')
        placed = train('--json', '--log-placement', *places)
        self.assertIn('layer3.0 on cpu:1 reads layer2.1 copied from cpu:0\n', placed.stderr)
        epoch, = json.loads(placed.stdout)['epochs']
        self.assertEqual(epoch['train'], json.loads(alone.stdout)['epochs'][0]['train'])
        self.assertEqual(epoch['transfers']['calls'], 5 * epoch['steps'])

    def test_refuses(self):
        for arguments, words in [
            (('--devices', 'cpu:0,gpu:1'), "unknown device 'gpu:1'"),
            (('--devices', 'cpu:0,cpu:0'), 'named twice'),
            (('--batch-size', '100000'), 'no batch of 100000'),
            (('--classes', '2'), 'not in 0 to 1'),
            (('--lr', '1e30'), 'is not a number'),
            (('--async',), 'parameter server'),
            (('--resume', str(self.folder / 'nothing')), 'nothing'),
            (('--strategy', 'best'), '--strategy'),
            (('--place', 'layer1.0.conv1=cpu:0'), 'layer1.0.conv1 is inside layer1.0, which cannot be split'),
            (('--input', 'real,disk'), '--input'),
            (('--steps-per-dispatch', '0'), '--steps-per-dispatch'),
            (('--cuda-graphs', 'some'), '--cuda-graphs'),
            (('--input', 'real,real'), "'real' is named twice"),
            (('--classes', '-3'), '-3 classes'),
            (('--max-steps', '-1'), 'the most steps: -1; give 0 or more'),
            (('--checkpoint-steps', '-1'), 'steps of a checkpoint: -1'),
            (('--checkpoint-steps', '2'), 'no folder for them'),
            (('--warmup-epochs', '-1'), 'warm-up: -1'),
            (('--lr', 'nan'), 'learning rate: nan'),
            (('--variables', 'spread'), '--strategy parameter_server'),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.train(*arguments, code=2).stderr)


class FromStore(StoreCase):
    def test_losses_are_those_of_the_disk(self):
        """Also of a training that goes on from its checkpoint."""
        self.pack(CIFAR / 'cifar-10-batches-py', out='bucket/data')
        self.serve()
        told = []
        for number, data in enumerate((self.folder / 'bucket/data', 's3://bucket/data')):
            run = str(self.folder / f'run{number}')
            flags = ['--width', '8', '--threads', '1', '--batch-size', '8', '--epochs', '2', '--checkpoints', run, '--json']
            for more in ['--max-steps', '3', '--checkpoint-steps', '1'], ['--resume', run]:
                done = subprocess.run([RECTRAIN, 'train', str(data), *flags, *more], env={**os.environ, **self.env}, capture_output=True,
                                      text=True, timeout=120, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                told.append([epoch['train']['loss'] for epoch in json.loads(done.stdout)['epochs']])
        self.assertEqual(told[:2], told[2:])
        self.assertEqual([len(losses) for losses in told], [1, 2, 1, 2])


if __name__ == '__main__':
    unittest.main()
