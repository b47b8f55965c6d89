"""recpack_io.huggingface: Trainer and Accelerate train, resume in mid-epoch, and keep the last batch."""
import json
import warnings

import numpy as np
import recpack_io
import torch
import transformers
from accelerate import Accelerator
from accelerate.state import AcceleratorState, GradientState, PartialState
from recpack_io.huggingface import Trainer, prepare
from recpack_io.torch import IterableDataset, Loader
from support import CIFAR, InFolder, main, pack, run_ranks

ARRAYS = [*recpack_io.recipe('cifar10-train'), recpack_io.Id()]


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = torch.nn.Linear(3072, 10)
        self.trained_on = []

    def forward(self, pixel_values, labels=None, id=None):  # noqa: A002
        logits = self.layer(pixel_values.flatten(1))
        if self.training:
            self.trained_on.append(id.tolist())
        loss = torch.nn.functional.cross_entropy(logits, labels)
        return {'loss': loss, 'logits': logits}


class Killed(Exception):
    pass


class KillBehind(transformers.TrainerCallback):
    def __init__(self, step):
        self.step = step

    def on_save(self, args, state, control, **_):
        if state.global_step == self.step:
            raise Killed


class HuggingFace(InFolder):
    def setUp(self):
        super().setUp()
        warnings.filterwarnings('ignore')
        pack(CIFAR, self.folder / 'shards')
        self.dataset = recpack_io.open(self.folder / 'shards')
        for state in AcceleratorState, GradientState, PartialState:
            state._reset_state()

    def loader(self, **options):
        return Loader(self.dataset, fields=ARRAYS, **{'batch_size': 8, 'seed': 1} | options)

    def trainer(self, train=None, evaluation=None, **options):
        model = Classifier()
        args = transformers.TrainingArguments(**{
            'output_dir': str(self.folder / 'run'), 'per_device_train_batch_size': 8,
            'per_device_eval_batch_size': 8, 'num_train_epochs': 3, 'save_strategy': 'no',
            'report_to': 'none', 'use_cpu': True, 'disable_tqdm': True, 'learning_rate': 0.001,
            'logging_strategy': 'no', 'remove_unused_columns': False} | options)
        metrics = {'compute_metrics': lambda given: {'count': len(given.label_ids)}}
        return Trainer(model, args, train_dataset=train, eval_dataset=evaluation, **metrics)

    def ids_of_epochs(self, epochs, **options):
        plain = recpack_io.Loader(self.dataset, fields=[recpack_io.Id()],
                                  **{'batch_size': 8, 'seed': 1} | options)
        return [batch['id'].tolist() for _ in range(epochs) for batch in plain]

    def test_trains_on_the_loaders_batches(self):
        trainer = self.trainer(self.loader())
        trainer.train()
        self.assertEqual(trainer.model.trained_on, self.ids_of_epochs(3))

    def test_the_odd_last_batch_is_kept(self):
        trainer = self.trainer(self.loader(batch_size=7, last_batch='keep'),
                               per_device_train_batch_size=7, num_train_epochs=2)
        trainer.train()
        expected = self.ids_of_epochs(2, batch_size=7, last_batch='keep')
        self.assertNotEqual(len(expected[-1]), 7)
        self.assertEqual(trainer.model.trained_on, expected)

    def test_killed_and_gone_on(self):
        for accumulated in 1, 3:
            options = {'gradient_accumulation_steps': accumulated, 'save_strategy': 'steps',
                       'save_steps': 1}
            whole = self.trainer(self.loader(), output_dir=str(self.folder / f'whole{accumulated}'),
                                 **options)
            whole.train()
            an_epoch = -(-len(self.loader()) // accumulated)
            self.assertEqual(whole.state.global_step, 3 * an_epoch)
            for step in 1, an_epoch - 1, an_epoch, an_epoch + 2:
                with self.subTest(accumulated=accumulated, step=step):
                    there = {'output_dir': str(self.folder / f'{accumulated}-{step}'), **options}
                    killed = self.trainer(self.loader(), **there)
                    killed.add_callback(KillBehind(step))
                    with self.assertRaises(Killed):
                        killed.train()
                    again = self.trainer(self.loader(), **there)
                    again.train(resume_from_checkpoint=True)
                    self.assertEqual(killed.model.trained_on + again.model.trained_on,
                                     whole.model.trained_on)
                    self.assertTrue(torch.equal(again.model.layer.weight, whole.model.layer.weight))

    def test_a_checkpoint_of_another_trainer_is_continued_by_skipping(self):
        options = {'save_strategy': 'steps', 'save_steps': 1}
        whole = self.trainer(self.loader(), **options)
        whole.train()
        step = len(self.loader()) + 2
        checkpoint = self.folder / 'run' / f'checkpoint-{step}'
        (checkpoint / 'recpack_loader.json').unlink()
        again = self.trainer(self.loader(), output_dir=str(self.folder / 'again'))
        again.train(resume_from_checkpoint=str(checkpoint))
        self.assertEqual(again.model.trained_on, whole.model.trained_on[step:])

    def test_another_batch_size_than_the_checkpoints(self):
        self.trainer(self.loader(), save_strategy='steps', save_steps=2, max_steps=2).train()
        other = self.trainer(self.loader(batch_size=4), per_device_train_batch_size=4)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, 'a run with 8 samples'):
            other.train(resume_from_checkpoint=True)

    def test_evaluates_every_record_once(self):
        evaluation = Loader(recpack_io.open(self.folder / 'shards', split='eval'), 'cifar10-eval',
                            batch_size=7, order='sequential', last_batch='keep')
        trainer = self.trainer(evaluation=evaluation, per_device_eval_batch_size=7)
        for given in None, evaluation:
            metrics = trainer.evaluate(given)
            self.assertEqual(metrics['eval_count'], len(evaluation.dataset))
        labels = np.concatenate([batch['label'].numpy() for batch in evaluation])
        model = trainer.model.eval()
        with torch.no_grad():
            losses = [torch.nn.functional.cross_entropy(
                model.layer(batch['image'].flatten(1)), batch['label'], reduction='none')
                for batch in evaluation]
        result = trainer.predict(evaluation)
        self.assertEqual(result.label_ids.tolist(), labels.tolist())
        self.assertEqual(len(torch.cat(losses)), len(labels))

    def test_batch_sizes_that_differ(self):
        trainer = self.trainer(self.loader(batch_size=4))
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError,
                                    'batches of 4, TrainingArguments has per_device_train'):
            trainer.train()

    def test_other_data_sets_are_the_trainers(self):
        samples = [{'pixel_values': torch.zeros(3, 32, 32), 'labels': 1, 'id': n} for n in range(20)]
        trainer = self.trainer(samples, samples, save_strategy='steps', save_steps=2)
        trainer.train()
        self.assertEqual(trainer.evaluate()['eval_count'], 20)
        again = self.trainer(samples, num_train_epochs=4)
        again.train(resume_from_checkpoint=str(self.folder / 'run' / 'checkpoint-2'))
        self.assertEqual(len(again.model.trained_on), 4 * 3 - 2)

    def test_accelerate(self):
        accelerator = Accelerator(cpu=True, gradient_accumulation_steps=3)
        model = Classifier()
        model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), 0.001))
        loader = prepare(accelerator, self.loader())
        stepped = []
        for _ in range(2):
            for batch in loader:
                with accelerator.accumulate(model):
                    accelerator.backward(model(**batch)['loss'])
                    stepped.append(accelerator.sync_gradients)
                    optimizer.step()
                    optimizer.zero_grad()
        an_epoch = len(loader)
        self.assertNotEqual(an_epoch % 3, 0)
        self.assertTrue(stepped[an_epoch - 1] and stepped[-1])  # also at the end of an epoch

    def test_accelerate_resumes(self):
        expected = self.ids_of_epochs(2)
        accelerator = Accelerator(cpu=True)
        loader = prepare(accelerator, self.loader())
        for number, batch in enumerate(loader):
            self.assertEqual(batch['id'].tolist(), expected[number])
            if number == 2:
                accelerator.save_state(self.folder / 'state')
                break
        accelerator = Accelerator(cpu=True)
        loader = prepare(accelerator, self.loader())
        accelerator.load_state(self.folder / 'state')
        self.assertEqual([batch['id'].tolist() for _ in range(2) for batch in loader], expected[3:])

    def test_accelerate_goes_on_with_other_ranks(self):
        """Two ranks save in the middle of an epoch, one goes on to its end with the same global batch, and the reverse."""
        program = self.folder / 'train.py'
        program.write_text(
            'import json, sys, recpack_io\n'
            'from accelerate import Accelerator\n'
            'from recpack_io.huggingface import prepare\n'
            'from recpack_io.torch import Loader\n'
            'shards, state, steps, resumes = *sys.argv[1:3], int(sys.argv[3]), sys.argv[4] == "resume"\n'
            'accelerator = Accelerator(cpu=True)\n'
            'loader = prepare(accelerator, Loader(recpack_io.open(shards), fields=[recpack_io.Id()], seed=1,\n'
            '                                     batch_size=8 // accelerator.num_processes))\n'
            'if resumes: accelerator.load_state(state)\n'
            'seen = []\n'
            'for number, batch in enumerate(loader, 1):\n'
            '    seen.append(batch["id"].tolist())\n'
            '    if number == steps:\n'
            '        accelerator.save_state(state)\n'
            '        break\n'
            'print(json.dumps(seen))\n')
        expected = [sorted(batch) for batch in self.ids_of_epochs(1)]
        for first, then in ((2, 1), (1, 2)):
            state = self.folder / f'state{first}'
            seen = []
            for count, steps, how in ((first, 3, 'start'), (then, 0, 'resume')):
                ranks = [json.loads(line) for line in run_ranks(self, count, program, self.folder / 'shards', state, steps, how)]
                seen += [sorted(sum(parts, [])) for parts in zip(*ranks)]
            self.assertEqual(seen, expected, (first, then))

    def test_ranks_gather_every_record_once(self):
        program = self.folder / 'evaluate.py'
        program.write_text(
            'import json, sys, recpack_io\n'
            'from accelerate import Accelerator\n'
            'from recpack_io.huggingface import prepare\n'
            'from recpack_io.torch import Loader\n'
            'accelerator = Accelerator(cpu=True)\n'
            'dataset = recpack_io.open(sys.argv[1], split="eval")\n'
            'loader = prepare(accelerator, Loader(dataset, fields=[recpack_io.Id()], batch_size=7,\n'
            '    order="sequential", share="batches", last_batch="pad"))\n'
            'ids = [accelerator.gather_for_metrics(batch["id"]).tolist() for batch in loader]\n'
            'if accelerator.is_main_process: print(json.dumps([sum(ids, []), len(dataset)]))\n')
        ids, records = json.loads(run_ranks(self, 2, program, self.folder / 'shards')[0])
        self.assertEqual(ids, list(range(records)))


class Iterable(InFolder):
    def test_in_torchs_loader(self):
        pack(CIFAR, self.folder / 'shards')
        loader = Loader(recpack_io.open(self.folder / 'shards'), fields=ARRAYS, batch_size=8, seed=1)
        expected = [batch['id'].tolist() for _ in range(2) for batch in loader]
        loader.set_epoch(0)
        given = torch.utils.data.DataLoader(IterableDataset(loader), batch_size=None)
        self.assertEqual(len(given), len(loader))
        self.assertEqual([batch['id'].tolist() for _ in range(2) for batch in given], expected)
        with_workers = torch.utils.data.DataLoader(IterableDataset(loader), batch_size=None,
                                                   num_workers=1)
        with self.assertRaisesRegex(recpack_io.UnsupportedError, 'num_workers=0'):
            next(iter(with_workers))


if __name__ == '__main__':
    main()
