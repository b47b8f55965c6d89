"""The rows of bench/results/records.json: what is compared with what."""
from harness.entrants import (CEILING, OURS, PEER, PeerProcess, Process, Program, Report,
                              Reported, ServedPeer, Setting)
from harness.machine import drop_cache
from harness.measure import Row

ROWS = 60_000
PHOTOS = 3_840
CIFAR = '{data}/cifar-10-batches-py'
FILES = '{data}/cifar10-jpeg'
RECPACK = '{build}/tools/recpack/recpack'
BENCH = '{build}/bench/record/'
UNSYNCED = ['--no-sync', '--no-digest', '--quiet', '--json']


def ours(label: str, words: list[str], out: str = '') -> Process:
    return Process(label, OURS, [RECPACK, *words], out, ' '.join(['recpack', *words]))


def bench(role: str, label: str, program: str, job: str, *words: str) -> Program:
    return Program(label, role, [BENCH + program, job, *words], job)


def shell(role: str, label: str, script: str, out: str = '') -> Process:
    return Process(label, role, ['sh', '-c', script], out, script)


def packers(job: str, out: str) -> list:
    """Every peer that packs, as a whole process."""
    scripts = [('tensorflow', 'tf'), ('lance', 'py'), ('array_record', 'py'), ('tfrecord', 'py'),
               ('webdataset', 'py'), ('ffcv', 'ffcv')]
    return [PeerProcess(script, env, script, job, f'{script}-{out}') for script, env in scripts]


def pack_cifar(_: Setting) -> list[Row]:
    def pack(label: str, out: str, *flags: str) -> Process:
        words = ['pack', CIFAR, '{work}/out/' + out, '--from', 'cifar10', '--quiet', '--json']
        return ours(label, [*words, *flags], out)
    copy = 'mkdir -p {work}/out && cp -r {work}/out/recpack-cifar {work}/out/copy'
    safe = 'recpack-cifar-safe'
    return [
        Row('pack-cifar', 'CIFAR-10 pickles → shards, whole process', ROWS,
            [pack('recpack', 'recpack-cifar', '--no-sync', '--no-digest'),
             *packers('pack-cifar', 'cifar'), shell(CEILING, 'cp of the shards', copy, 'copy')],
            {'tensorflow': 12, PEER: 2},
            note='our shards carry CRCs, an index and a manifest; nothing is synced'),
        Row('pack-cifar-safe', 'the same, synced and with digests', ROWS,
            [pack('recpack, as it comes', safe), pack('recpack --no-digest', safe, '--no-digest'),
             pack('recpack --no-sync', safe, '--no-sync'),
             shell(CEILING, 'cp and sync', copy + ' && sync {work}/out/copy/*', 'copy')]),
        Row('write-cifar', 'the writing alone', ROWS,
            [bench(OURS, 'recpack', 'write_bench', 'write', '--out', '{work}/out/write',
                   '--records', str(ROWS)),
             shell(CEILING, 'cp of the shards', copy, 'copy')],
            {CEILING: 0.8}),
    ]


def pack_files(_: Setting) -> list[Row]:
    out = '{work}/out/recpack-files'
    words = ['pack', FILES, out, '--from', 'folder', *UNSYNCED]
    return [Row('pack-files', '60,000 small JPEG files → shards, whole process', ROWS,
                [ours('recpack --shuffle off', words + ['--shuffle', 'off'], 'recpack-files'),
                 ours('recpack, shuffled', words, 'recpack-files'), *packers('pack-files', 'files'),
                 shell(CEILING, 'tar cf', 'mkdir -p {work}/out/tar && '
                       'tar cf {work}/out/tar/files.tar -C ' + FILES + ' .', 'tar')],
                {CEILING: 0.8}, note='our records also hold size, format, class and file names')]


def epoch(setting: Setting) -> list[Row]:
    def entrants():
        return [ours('recpack verify of the shards',
                     ['verify', '{work}/out/recpack-files', '--quiet', '--json']),
                shell(PEER, 'cat of the files, shuffled',
                      'xargs -0 -a {work}/files.list cat >/dev/null'),
                shell(CEILING, 'cat of the shards',
                      'cat {work}/out/recpack-files/*.tfrecord >/dev/null')]

    def cold(at: Setting) -> str:
        return drop_cache([at.data / 'cifar10-jpeg', at.work / 'out' / 'recpack-files'])
    title = 'an epoch over 60,000 files, or over their shards'
    return [Row('epoch-warm', title + ', warm', ROWS, entrants(), {PEER: 1}),
            Row('epoch-cold', title + ', cold', ROWS, entrants(), {PEER: 1}, cold=cold)]


def read(kind: str, records: int, title: str, targets: dict, peers: list) -> Row:
    at = ['{work}/shards/' + kind]
    return Row(f'read-{kind}', title, records,
               [bench(OURS, 'recpack, 1 thread', 'read_bench', 'read', *at, '--threads', '1'),
                bench(OURS, 'recpack, 2 threads', 'read_bench', 'read', *at, '--threads', '2'),
                bench(CEILING, 'bare loop, read and CRC', 'read_bench', 'bare', *at,
                      '--threads', '1'), *peers],
               targets, note='recpack and tensorflow check CRCs; the others do not')


def reading(_: Setting) -> list[Row]:
    def everyone(kind: str) -> list:
        return [ServedPeer('tensorflow', 'tf', 'tensorflow', f'read-{kind}'),
                ServedPeer('ffcv', 'ffcv', 'ffcv', f'read-{kind}', (f'pack-{kind}', f'ffcv-{kind}')),
                ServedPeer('tfrecord', 'py', 'tfrecord', f'read-{kind}'),
                ServedPeer('grain', 'py', 'grain', f'read-{kind}'),
                ServedPeer('dali', 'dali', 'dali', f'read-{kind}')]
    columns = [ServedPeer(name, 'py', name, 'read-cifar', ('pack-cifar', f'{name}-cifar'))
               for name in ('lance', 'array_record')]
    return [read('cifar', ROWS, 'read CIFAR-sized records in order',
                 {CEILING: 0.9, 'tensorflow': 5.5, 'ffcv': 1}, everyone('cifar') + columns),
            read('photo', PHOTOS, 'read 100 KB records in order', {CEILING: 0.9},
                 everyone('photo')),
            Row('read-scaling', 'read CIFAR-sized records, 2 threads against 1', ROWS,
                [bench(OURS, '2 threads', 'read_bench', 'read', '{work}/shards/cifar',
                       '--threads', '2'),
                 bench(OURS, '1 thread', 'read_bench', 'read', '{work}/shards/cifar',
                       '--threads', '1'),
                 bench(CEILING, 'bare loop, 2 threads', 'read_bench', 'bare',
                       '{work}/shards/cifar', '--threads', '2'),
                 bench(CEILING, 'bare loop, 1 thread', 'read_bench', 'bare',
                       '{work}/shards/cifar', '--threads', '1')], {'1 thread': 1.8})]


def parsing(_: Setting) -> list[Row]:
    return [Row('parse-cifar', 'read and parse to batches of (image, label)', ROWS,
                [bench(OURS, 'recpack, 2 threads', 'parse_bench', 'parse', '{work}/shards/cifar',
                       '--threads', '2'),
                 bench(CEILING, 'bare loop, read and CRC, 2 threads', 'read_bench', 'bare',
                       '{work}/shards/cifar', '--threads', '2'),
                 ServedPeer('tensorflow', 'tf', 'tensorflow', 'parse-cifar'),
                 ServedPeer('tensorflow, 2 files', 'tf', 'tensorflow', 'parse-cifar-parallel'),
                 ServedPeer('dali', 'dali', 'dali', 'parse-cifar'),
                 ServedPeer('tfrecord', 'py', 'tfrecord', 'parse-cifar')],
                {'tensorflow': 8, 'tensorflow, 2 files': 8})]


def random_access() -> list[Row]:
    report = Report(['{build}/bench/record/random_bench', '{work}/out/random', '{reps}'])

    def side(label: str, role: str, entrant: str, cache: str, size: int) -> Reported:
        return Reported(label, role, report,
                        {'entrant': entrant, 'cache': cache, 'record_bytes': size})

    def sides(cache: str, size: int, bare: list[str]) -> list:
        return [side('recpack', OURS, 'automatic', cache, size),
                *[side(name.replace('_', ' '), CEILING, name, cache, size) for name in bare]]
    cold = ['bare_64_threads', 'bare_64_threads_direct']
    peers = [ServedPeer(name, 'py', name, 'random-cifar', ('pack-cifar', f'{name}-cifar'))
             for name in ('array_record', 'lance')]
    return [
        Row('random-warm', '3 KB records in random order, warm', 1,
            [*sides('warm', 3080, ['bare_pread']), *peers], {PEER: 1},
            note='ours and the ceiling: medians of one report on 1 GB; peers on 185 MB of CIFAR'),
        Row('random-cold', '3 KB records in random order, cold', 1, sides('cold', 3080, cold),
            {CEILING: 0.9}, cache='cold', note='medians of one report, whose sides take turns'),
        Row('random-cold-photo', '100 KB records in random order, cold', 1,
            sides('cold', 100_000, cold), {CEILING: 0.9},
            note='medians of one report, whose sides take turns'),
    ]


def access(_: Setting) -> list[Row]:
    index = ['index', '{work}/shards/cifar', '--out', '{work}/out/index', '--quiet', '--json']
    return [
        Row('index', 'make the index by scanning', ROWS,
            [ours('recpack index --no-verify', [*index, '--no-verify'], 'index'),
             ours('recpack index, all CRCs checked', index, 'index'),
             ServedPeer('tfrecord', 'py', 'tfrecord', 'index')], {'tfrecord': 5},
            note='ours is a whole process, theirs a call in a running one; theirs checks nothing'),
        *random_access(),
        Row('labels', 'the labels alone, of all records', ROWS,
            [bench(OURS, 'recpack, 2 threads', 'parse_bench', 'parse', '{work}/shards/cifar',
                   '--threads', '2'),
             ServedPeer('lance', 'py', 'lance', 'labels', ('pack-cifar', 'lance-cifar'))], {PEER: 1},
            note='a record holds all of its features: a columnar format reads the one column'),
        Row('start', 'process start to the first record of a 10-shard data set', 1,
            [ours('recpack cat', ['cat', '{work}/out/ten-shards', '--record', '0', '--json']),
             PeerProcess('tensorflow', 'tf', 'tensorflow', 'start')], {PEER: 1}, unit='ms',
            note='whole processes; the aim is 10 ms'),
    ]


def memory(_: Setting) -> list[Row]:
    """Peak resident memory; the counts of a row should differ in nothing but the mapped index."""
    def row(job: str, command: str, words, out: str = '') -> Row:
        entrants = [ours(f'recpack {command}, {count:,} records', words(count), out)
                    for count in (10_000, 1_000_000)]
        entrants += [Program(f'sparse, {count:,}', OURS,
                             ['{build}/bench/dataset/memory_bench', '--job', job, '--records',
                              str(count), '--out', f'{{work}}/out/sparse-{count}'], job)
                     for count in (10_000, 1_000_000, 400_000_000)]
        for entrant in entrants:
            entrant.peak = True
        return Row(f'memory-{job}', f'peak memory of {job}', 1_000_000, entrants, unit='MB',
                   note='sparse: shards of 1,000 records; bench/dataset/memory_bench.cc')
    small = '{{work}}/small/{}.tfrecord'.format
    return [row('pack', 'pack', lambda n: ['pack', small(n), '{work}/out/memory', '--from',
                                           'tfrecord', *UNSYNCED], 'memory'),
            row('index', 'index', lambda n: ['index', small(n), '--out', '{work}/out/index',
                                             '--quiet', '--json'], 'index'),
            row('read', 'verify', lambda n: ['verify', small(n), '--quiet', '--json'])]


GROUPS = [pack_cifar, pack_files, epoch, reading, parsing, access, memory]


def all_rows(setting: Setting) -> list[Row]:
    return [row for group in GROUPS for row in group(setting)]
