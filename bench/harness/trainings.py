"""Epochs of rectrain as entrants of a row."""
import dataclasses
import json
import pathlib
import shutil
import subprocess

from harness.entrants import LIMIT_SECONDS, OURS, Process, Setting, Unavailable

TRAIN = '{build}/tools/rectrain/rectrain'
REVIEWS = 20_000  # of all splits


def reviews(setting: Setting) -> pathlib.Path:
    """Shards of reviews that were drawn, made once."""
    shards, made = setting.work / 'reviews', setting.work / 'reviews-made'
    if shards.is_dir():
        return shards
    recpack = setting.build / 'tools' / 'recpack' / 'recpack'
    shutil.rmtree(made, ignore_errors=True)
    for words in (['stand-in', made, '--kind', 'reviews', '--records', REVIEWS],
                  ['pack', made, shards, '--from', 'reviews']):
        try:
            subprocess.run([recpack, *map(str, words)], check=True, capture_output=True,
                           timeout=LIMIT_SECONDS)
        except (OSError, subprocess.SubprocessError) as error:
            raise Unavailable(f'reviews cannot be made: {error}') from error
    return shards


class ReviewEpoch(Process):
    """The second epoch of a training of deepconn: what is done once is done in the first.

    Besides the time of training alone it tells how many copies between devices there were, and
    which share of that time they took.
    """

    def __init__(self, label: str, *flags: str):
        words = [TRAIN, 'train', '{work}/reviews', '--model', 'deepconn', '--batch-size', '128',
                 '--epochs', '2', '--embedding', 'separate', '--no-evaluation', '--json', *flags]
        super().__init__(label, OURS, words, config=' '.join(words[1:]))
        self.epoch = {}

    def start(self, setting, cpus):
        super().start(setting, cpus)
        reviews(setting)

    def read(self, said):
        said.seek(0)
        self.epoch = json.load(said)['epochs'][-1]
        return {}

    def run(self):
        whole = super().run()
        seconds, copies = self.epoch['train_seconds'], self.epoch['transfers']
        return dataclasses.replace(
            whole, seconds=seconds, records=self.epoch['train']['samples'], bytes=copies['bytes'],
            more={'copies': copies['calls'], 'copy_share': copies['seconds'] / seconds})
