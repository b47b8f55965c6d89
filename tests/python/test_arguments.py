"""Arguments: types list what there is."""
import inspect
import re
from typing import Literal, get_args, get_origin

import recpack_io
from recpack_io import options
from support import CIFAR, InFolder, main, pack


def names_of(core_field):
    return {name for name in dir(core_field) if not name.startswith('_')}


class Arguments(InFolder):
    def setUp(self):
        super().setUp()
        pack(CIFAR, self.folder / 'shards')
        self.dataset = recpack_io.open(self.folder / 'shards')


class Types(Arguments):
    def test_options_are_the_loaders(self):
        signature = inspect.signature(recpack_io.Loader).parameters
        mine = {name: each.annotation for name, each in signature.items()
                if name not in ('dataset', 'recipe', 'batch_type', 'device')}
        typed = {name: each.__forward_arg__ for name, each in options.LoaderOptions.__annotations__.items()}
        self.assertEqual(typed, mine)

    def test_options_are_those_of_fields(self):
        for field, typed in ((recpack_io.Image(), options.ImageOptions),
                             (recpack_io.Numbers('label'), options.NumbersOptions),
                             (recpack_io.Bytes('image'), options.BytesOptions)):
            self.assertEqual({'name', *typed.__annotations__}, names_of(field))

    def test_choices_are_the_cores(self):
        """The core's messages list what there is."""
        for choice, call in (
                (options.Crop, lambda word: recpack_io.Image(crop=word)),
                (options.ImageType, lambda word: recpack_io.Image(type=word)),
                (options.ImageLayout, lambda word: recpack_io.Image(layout=word)),
                (options.Interpolation, lambda word: recpack_io.Image(interpolation=word)),
                (options.Policy, lambda word: recpack_io.Image(policy=word)),
                (options.NumbersType, lambda word: recpack_io.Numbers('label', type=word)),
                (options.LastBatch, lambda word: self.loader(last_batch=word)),
                (options.Cache, lambda word: self.loader(cache=word)),
                (options.OnBadRecord, lambda word: self.loader(on_bad_record=word))):
            with self.assertRaises(recpack_io.InvalidArgumentError) as caught:
                call('nothing')
            listed = re.search('choose one of (.*)', str(caught.exception))[1]
            self.assertEqual(list(get_args(choice)), listed.split(', '))
            for word in set(get_args(choice)) - {'pictures'}:  # which needs other records
                call(word)

    def test_other_choices(self):
        for word in get_args(options.Order):
            self.loader(order=word)
        for word in get_args(options.Compression):
            recpack_io.Writer(self.folder / word, compression=word).close()
        for word in get_args(options.Given):
            recpack_io.Image(then=str, given=word, result=('uint8', 3))
        unknown = self.folder / 'unknown'
        unknown.write_bytes(b'\0' * 100)
        with self.assertRaises(recpack_io.InvalidArgumentError) as caught:
            recpack_io.pack(unknown, self.folder / 'out')
        listed = re.search('kind: (.*)', str(caught.exception))[1].split(', ')
        self.assertEqual(['', *listed], list(get_args(options.SourceKind)))
        for option, choice in ('layout', options.FolderLayout), ('jpeg', options.Jpeg):
            with self.assertRaises(recpack_io.InvalidArgumentError) as caught:
                recpack_io.pack(unknown, self.folder / 'out', **{option: 'nothing'})
            listed = re.search('choose (.*), or leave', str(caught.exception))[1].split(' or ')
            self.assertEqual(['', *listed], list(get_args(choice)))

    def test_every_choice_is_tested_here(self):
        choices = [name for name, each in vars(options).items() if get_origin(each) is Literal]
        with open(__file__, encoding='utf-8') as file:
            text = file.read()
        self.assertEqual([name for name in choices if f'options.{name}' not in text], [])

    def loader(self, **named):
        return recpack_io.Loader(self.dataset, 'cifar10-train', batch_size=8, **named)


if __name__ == '__main__':
    main()
