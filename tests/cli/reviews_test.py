"""Tests recpack pack --from reviews: token lists for models that read reviews."""
import gzip
import hashlib
import json
import random
import signal
import subprocess
import time
import unittest

from support import RECPACK, CliTest


class Reviews(CliTest):
    def make(self, records=400, name='made'):
        self.run_recpack('stand-in', self.folder / name, '--kind', 'reviews', '--records', records,
                         '--seed', '5')
        return self.folder / name / 'reviews.jsonl'

    def write(self, *lines):
        path = self.folder / 'r.jsonl'
        path.write_text(''.join(line + '\n' for line in lines))
        return path

    @staticmethod
    def line(user, item, text='fine', overall=4.0):
        return json.dumps({'reviewerID': user, 'asin': item, 'reviewText': text,
                           'overall': overall})

    def record(self, out, split, number):
        text = self.run_recpack('cat', self.folder / out, '--split', split, '--record', number,
                                '--json').stdout
        return json.loads(text)

    def test_packs_lists_verifies_and_prints(self):
        reviews = self.make()
        self.pack(reviews)
        listed = self.json('ls', self.folder / 'out')
        self.assertEqual(list(listed['splits']), ['train', 'validation', 'test'])
        self.assertEqual(sum(s['records'] for s in listed['splits'].values()), 400)
        self.assertEqual({n: f['kind'] for n, f in listed['schema'].items()},
                         {'user_tokens': 'int64', 'item_tokens': 'int64', 'user': 'int64',
                          'item': 'int64', 'rating': 'float'})
        vocabulary = (self.folder / 'out/vocabulary.txt').read_bytes()
        self.assertEqual(listed['files'], {'vocabulary.txt': {'bytes': len(vocabulary)}})
        self.assertIn('file vocabulary.txt', self.run_recpack('ls', self.folder / 'out').stdout)
        manifest = json.loads((self.folder / 'out/manifest.json').read_text())
        self.assertEqual(manifest['files'][0]['sha256'], hashlib.sha256(vocabulary).hexdigest())
        self.assertEqual(vocabulary.split(b'\n')[:2], [b'<pad>', b'<unk>'])
        self.run_recpack('verify', self.folder / 'out')
        self.assertIn('user_tokens: int64 [',
                      self.run_recpack('cat', self.folder / 'out', '--record', '3').stdout)
        (self.folder / 'out/vocabulary.txt').write_text('other')
        self.assertIn('vocabulary.txt', self.run_recpack('verify', self.folder / 'out', code=1).stdout)

    def test_named_or_recognised_plain_or_compressed_whole_or_in_parts(self):
        reviews = self.make()
        text = reviews.read_bytes()
        (self.folder / 'r.json.gz').write_bytes(gzip.compress(text))
        lines = text.splitlines(keepends=True)
        (self.folder / 'parts').mkdir()
        for i in range(4):
            (self.folder / f'parts/{i}.json').write_bytes(b''.join(lines[100 * i:100 * (i + 1)]))
        self.pack(reviews)
        self.pack(self.folder / 'r.json.gz', out='gz')
        self.pack(self.folder / 'parts', '--from', 'reviews', out='parts-out')
        self.pack(self.folder / 'parts/{0..3}.json', '--from', 'reviews', out='pattern')
        for out in 'gz', 'parts-out', 'pattern':
            self.equal_shards(self.shards(), self.shards(out))

    def test_bytes_do_not_depend_on_threads(self):
        reviews = self.make()
        for threads in 1, 4:
            self.pack(reviews, '--threads', threads, '--shards', '7', out=f'out{threads}')
        self.equal_shards(self.shards('out1'), self.shards('out4'))

    def test_flags_decide_and_other_ones_are_refused_on_resuming(self):
        reviews = self.make()
        flags = ['--max-tokens', '9', '--vocabulary', '5', '--seed', '3']
        self.pack(reviews, *flags, '--work-folder', self.folder)
        out = self.folder / 'out'
        for number in range(20):
            features = json.dumps(self.record('out', 'train', number))
            self.assertNotRegex(features, r'user_tokens[^\]]*(,[^\]]*){9}\]')
        self.assertEqual(len((out / 'vocabulary.txt').read_text().splitlines()), 7)
        for i, other in (1, '8'), (3, '6'), (5, '4'):
            changed = flags[:i] + [other] + flags[i + 1:]
            self.fails('pack', reviews, out, *changed,
                       saying=f"{flags[i - 1][2:]} was '{flags[i]}' and is now '{other}'")
        with open(reviews, 'a') as file:
            file.write(self.line('U1', 'I1') + '\n')
        self.fails('pack', reviews, out, *flags, saying='another pack job')

    def test_a_vocabulary_is_used_again(self):
        reviews = self.make()
        self.pack(reviews, '--vocabulary', '30')
        words = self.folder / 'out/vocabulary.txt'
        self.pack(reviews, '--vocabulary-file', words, '--seed', '1', out='again')
        self.assertEqual(words.read_bytes(), (self.folder / 'again/vocabulary.txt').read_bytes())
        self.fails('pack', reviews, self.folder / 'no', '--vocabulary-file', words, '--vocabulary',
                   '9', saying='excludes')
        self.fails('pack', reviews, self.folder / 'no', '--vocabulary-file', reviews,
                   saying=['reviews.jsonl:1', '<pad>', 'vocabulary.txt of an earlier pack'])

    def test_what_is_no_review_fails_or_is_skipped(self):
        path = self.write(*[self.line(f'u{i}', 'x') for i in range(9)],
                          self.line('u', 'y', overall=11), self.line('w', 'z', text=''))
        offset = len(path.read_text().split('\n')[0]) * 9 + 9
        self.fails('pack', path, self.folder / 'out',
                   saying=[f'r.jsonl:10 at byte {offset}', 'not from 0 to 10', '--on-error skip'])
        done = self.pack(path, '--on-error', 'skip', '--max-skip', '10%', out='skipped')
        self.assertEqual(done['records'], 10)
        self.assertEqual([s['path'] for s in done['skipped']], ['r.jsonl:10'])
        self.pack(path, '--on-error', 'skip', '--max-skip', '1%', out='few', code=1)
        self.assertFalse((self.folder / 'few/vocabulary.txt').exists())

    def test_flags_of_reviews_are_for_reviews(self):
        photos = self.class_folder(files=2)
        for flags in (['--max-tokens', '9'], ['--vocabulary', '9'], ['--vocabulary-file', 'v'],
                      ['--seed', '9']):
            self.fails('pack', photos, self.folder / 'out', *flags,
                       saying=[flags[0], 'kind folder', 'it applies to reviews'])
        self.fails('pack', self.make(), self.folder / 'out', '--label-offset', '1',
                   saying=['--label-offset', 'kind reviews'])
        for flags in ['--max-tokens', '0'], ['--vocabulary', '0'], ['--seed', '-1']:
            self.fails('pack', photos, self.folder / 'out', *flags, saying=flags[0])

    def test_nothing_can_be_appended(self):
        reviews = self.make()
        self.pack(reviews)
        more = self.write(self.line('u', 'x'))
        self.fails('pack', more, self.folder / 'out', '--append',
                   saying=['reviews cannot be appended', 'together'])

    def test_shards_of_reviews_are_packed_anew(self):
        self.pack(self.make())
        self.pack(self.folder / 'out', '--shards', '3', out='again')
        self.run_recpack('verify', self.folder / 'again')
        self.assertIn('vocabulary.txt', self.json('ls', self.folder / 'again')['files'])

    def test_killed_again_and_again(self):
        reviews = self.make(records=4000)
        words = ['pack', reviews, self.folder / 'out', '--shards', '8']
        started = time.time()
        self.run_recpack(*words[:2], self.folder / 'whole', *words[3:])
        whole = time.time() - started
        chance = random.Random(3)
        kills = 0
        for launch in range(100):
            if launch >= 25 and kills > 3:
                break
            began = time.time()
            packer = subprocess.Popen([RECPACK, *map(str, words)], stdout=subprocess.DEVNULL)
            try:
                packer.wait(chance.uniform(0, whole))
                whole = min(whole, time.time() - began)  # the first may have been held up
            except subprocess.TimeoutExpired:
                packer.send_signal(signal.SIGKILL)
                packer.wait()
                kills += 1
            if (self.folder / 'out').is_dir():
                for name in chance.sample(sorted(self.shards()) or ['none'], 1):
                    (self.folder / 'out' / name).unlink(missing_ok=True)
        self.run_recpack(*words)
        self.run_recpack('verify', self.folder / 'out')
        self.assertGreater(kills, 3)
        self.equal_shards(self.shards(), self.shards('whole'))
        files = [{str(p.relative_to(self.folder / out)) for p in (self.folder / out).rglob('*')}
                 for out in ('out', 'whole')]
        self.assertEqual(files[0], files[1])

    def test_the_loader_says_that_reviews_are_to_be_packed(self):
        self.fails('batches', self.make(), '--recipe', 'cifar10-eval',
                   saying=['kind reviews', 'recpack pack'])


if __name__ == '__main__':
    unittest.main()
