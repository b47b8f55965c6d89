"""The rows of bench/results/records.json: what is compared with what."""
from harness.entrants import (OURS, PEER, REFERENCE, PeerProcess, Process, Program, Report,
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


def packers(job: str, out: str, synced: bool = False) -> list:
    """Every peer that packs, as a whole process."""
    scripts = [('tensorflow', 'tf'), ('lance', 'py'), ('array_record', 'py'), ('tfrecord', 'py'),
               ('webdataset', 'py'), ('ffcv', 'ffcv'), ('mds', 'streams'), ('litdata', 'streams')]
    return [PeerProcess(script, env, script, job, f'{script}-{out}', synced=synced) for script, env in scripts]


def packing(name: str, title: str, size: str, words: list[str], kind: str, reference) -> list[Row]:
    """By everyone's defaults, with nothing synced, and with all synced. `reference(synced)`: a copy."""
    def pack(label: str, *flags: str) -> Process:
        out = f'recpack-{kind}'
        return ours(label, ['pack', *words, '{work}/out/' + out, '--quiet', '--json', *flags], out)
    ours_checks = 'ours: CRC-32C of each record, index, manifest'
    return [
        Row(f'pack-{name}', f'{title}, by default', ROWS,
            [pack('recpack'), *packers(f'pack-{name}', kind), reference(True)], {PEER: 2, REFERENCE: 0.9},
            terms=f'{size}, warm, 2 threads; {ours_checks}, SHA-256 of each shard, synced; peers sync nothing'),
        Row(f'pack-{name}-unsynced', f'{title}, nothing synced', ROWS,
            [pack('recpack --no-sync --no-digest', '--no-sync', '--no-digest'),
             *packers(f'pack-{name}', kind), reference(False)], {PEER: 2},
            terms=f'{size}, warm, 2 threads; {ours_checks}'),
        Row(f'pack-{name}-synced', f'{title}, all synced', ROWS,
            [pack('recpack --no-digest', '--no-digest'), *packers(f'pack-{name}', kind, True), reference(True)],
            {PEER: 2, REFERENCE: 0.9}, terms=f'{size}, warm, 2 threads; {ours_checks}; what peers wrote is synced, too'),
    ]


def pack_cifar(_: Setting) -> list[Row]:
    copy = 'mkdir -p {work}/out && cp -r {work}/out/recpack-cifar {work}/out/copy'

    def reference(synced: bool) -> Process:
        if synced:
            return shell(REFERENCE, 'cp of the shards and sync', copy + ' && sync {work}/out/copy/*', 'copy')
        return shell(REFERENCE, 'cp of the shards', copy, 'copy')
    return [
        *packing('cifar', 'CIFAR-10 pickles → shards, whole process', '60,000 × 3 KB',
                 [CIFAR, '--from', 'cifar10'], 'cifar', reference),
        Row('write-cifar', 'the writing alone', ROWS,
            [bench(OURS, 'recpack', 'write_bench', 'write', '--out', '{work}/out/write',
                   '--records', str(ROWS)),
             shell(REFERENCE, 'cp of the shards', copy, 'copy')],
            {REFERENCE: 0.8}, terms='60,000 × 3 KB from memory, nothing synced, 1 thread, CRC-32C',
            alone='peers write from Python'),
    ]


def pack_files(_: Setting) -> list[Row]:
    tar = 'mkdir -p {work}/out/tar && tar cf {work}/out/tar/files.tar -C ' + FILES + ' .'

    def reference(synced: bool) -> Process:
        if synced:
            return shell(REFERENCE, 'tar cf and sync', tar + ' && sync {work}/out/tar/files.tar', 'tar')
        return shell(REFERENCE, 'tar cf', tar, 'tar')
    return packing('files', '60,000 small JPEG files → shards, whole process', '60,000 × 1 KB, shuffled by us alone',
                   [FILES, '--from', 'folder'], 'files', reference)


def epoch(setting: Setting) -> list[Row]:
    xargs = 'xargs -0 -a {{work}}/files-{}.list cat >/dev/null'

    def row(order: str, cache: str) -> Row:
        flags = [] if order == 'shuffled' else ['--order', 'sequential']
        entrants = [bench(OURS, 'recpack', '../loader/loader_bench', 'epoch', '{work}/out/recpack-files',
                          '--recipe', 'labels', '--batch', '128', *flags),
                    shell(PEER, f'cat of the files, {order}', xargs.format(order.replace(' ', '-'))),
                    shell(REFERENCE, 'cat of the shards',
                          'cat {work}/out/recpack-files/*.tfrecord >/dev/null')]
        return Row(f"epoch-{order.replace(' ', '-')}-{cache}", f'an epoch over 60,000 files, or over their shards, {order}, {cache}', ROWS,
                   entrants, {PEER: 1}, cold=forget if cache == 'cold' else None,
                   terms=f'60,000 × 1 KB, {cache}; ours: 2 threads, CRC-32C; cat: 1 thread, checks nothing, '
                         'reads shards in order')

    def forget(at: Setting) -> str:
        return drop_cache([at.data / 'cifar10-jpeg', at.work / 'out' / 'recpack-files'])
    return [row(order, cache) for cache in ('warm', 'cold') for order in ('in order', 'shuffled')]


def read(kind: str, records: int, title: str, size: str, targets: dict, peers: list) -> Row:
    at = ['{work}/shards/' + kind]
    return Row(f'read-{kind}', title, records,
               [bench(OURS, 'recpack, 1 thread', 'read_bench', 'read', *at, '--threads', '1'),
                bench(OURS, 'recpack, 2 threads', 'read_bench', 'read', *at, '--threads', '2'),
                bench(REFERENCE, 'bare loop, read and CRC', 'read_bench', 'bare', *at,
                      '--threads', '1'), *peers],
               targets, terms=f'{size}, warm; 1 or 2 threads; recpack and tensorflow check CRCs, the others do not; '
                              'ours is C++, peers hand batches or records to Python')


def reading(_: Setting) -> list[Row]:
    def everyone(kind: str) -> list:
        return [ServedPeer('tensorflow', 'tf', 'tensorflow', f'read-{kind}'),
                ServedPeer('ffcv', 'ffcv', 'ffcv', f'read-{kind}', (f'pack-{kind}', f'ffcv-{kind}')),
                ServedPeer('tfrecord', 'py', 'tfrecord', f'read-{kind}'),
                ServedPeer('grain', 'py', 'grain', f'read-{kind}'),
                ServedPeer('dali', 'dali', 'dali', f'read-{kind}')]
    columns = [ServedPeer(name, 'py', name, 'read-cifar', ('pack-cifar', f'{name}-cifar'))
               for name in ('lance', 'array_record')]
    columns += [ServedPeer(name, 'streams', name, 'read-cifar', ('pack-cifar', f'{name}-cifar'))
                for name in ('mds', 'litdata', 'webdataset')]
    return [read('cifar', ROWS, 'read CIFAR-sized records in order', '60,000 × 3 KB',
                 {REFERENCE: 0.9, 'tensorflow': 5.5, 'ffcv': 1}, everyone('cifar') + columns),
            read('photo', PHOTOS, 'read 100 KB records in order', '3,840 × 100 KB', {REFERENCE: 0.9},
                 everyone('photo')),
            Row('read-scaling', 'read CIFAR-sized records, 2 threads against 1', ROWS,
                [bench(OURS, '2 threads', 'read_bench', 'read', '{work}/shards/cifar',
                       '--threads', '2'),
                 bench(OURS, '1 thread', 'read_bench', 'read', '{work}/shards/cifar',
                       '--threads', '1'),
                 bench(REFERENCE, 'bare loop, 2 threads', 'read_bench', 'bare',
                       '{work}/shards/cifar', '--threads', '2'),
                 bench(REFERENCE, 'bare loop, 1 thread', 'read_bench', 'bare',
                       '{work}/shards/cifar', '--threads', '1')], {'1 thread': 1.8},
                terms='60,000 × 3 KB, warm, CRC-32C', alone='ours against ourselves')]


def parsing(_: Setting) -> list[Row]:
    return [Row('parse-cifar', 'read and parse to batches of (image, label)', ROWS,
                [bench(OURS, 'recpack, 2 threads', 'parse_bench', 'parse', '{work}/shards/cifar',
                       '--threads', '2'),
                 bench(REFERENCE, 'bare loop, read and CRC, 2 threads', 'read_bench', 'bare',
                       '{work}/shards/cifar', '--threads', '2'),
                 ServedPeer('tensorflow', 'tf', 'tensorflow', 'parse-cifar'),
                 ServedPeer('tensorflow, 2 files', 'tf', 'tensorflow', 'parse-cifar-parallel'),
                 ServedPeer('dali', 'dali', 'dali', 'parse-cifar'),
                 ServedPeer('tfrecord', 'py', 'tfrecord', 'parse-cifar')],
                {'tensorflow': 8, 'tensorflow, 2 files': 8},
                terms='60,000 × 3 KB, warm, 2 threads; recpack and tensorflow check CRCs; ours is C++')]


def random_access() -> list[Row]:
    report = Report(['{build}/bench/record/random_bench', '{work}/out/random', '{reps}'])

    def side(label: str, role: str, entrant: str, cache: str, size: int) -> Reported:
        return Reported(label, role, report,
                        {'entrant': entrant, 'cache': cache, 'record_bytes': size})

    def sides(cache: str, size: int, bare: list[str]) -> list:
        return [side('recpack', OURS, 'automatic', cache, size),
                *[side(name.replace('_', ' '), REFERENCE, name, cache, size) for name in bare]]
    cold = ['bare_64_threads', 'bare_64_threads_direct']
    alone = 'peers are read from Python: "From Python" has them'
    return [
        Row('random-warm', '3 KB records in random order, warm', 1,
            sides('warm', 3080, ['bare_pread']), {}, alone=alone,
            terms='1 GB, C++, 1 thread, CRC-32C; medians of one report, whose sides take turns'),
        Row('random-cold', '3 KB records in random order, cold', 1, sides('cold', 3080, cold),
            {REFERENCE: 0.9}, cache='cold', alone=alone,
            terms='1 GB, C++, 64 reads at a time, CRC-32C; medians of one report, whose sides take turns'),
        Row('random-cold-photo', '100 KB records in random order, cold', 1,
            sides('cold', 100_000, cold), {REFERENCE: 0.9}, alone=alone,
            terms='1 GB, C++, 64 reads at a time, CRC-32C; medians of one report, whose sides take turns'),
    ]


def access(_: Setting) -> list[Row]:
    index = ['index', '{work}/shards/cifar', '--out', '{work}/out/index', '--quiet', '--json']
    return [
        Row('index', 'make the index by scanning', ROWS,
            [ours('recpack index --no-verify', [*index, '--no-verify'], 'index'),
             ours('recpack index, all CRCs checked', index, 'index'),
             ServedPeer('tfrecord', 'py', 'tfrecord', 'index')], {'tfrecord': 5},
            terms='60,000 × 3 KB, warm; ours is a whole process, theirs a call in a running one, which checks nothing'),
        *random_access(),
        Row('labels', 'the labels alone, of all records', ROWS,
            [bench(OURS, 'recpack, 2 threads', 'parse_bench', 'parse', '{work}/shards/cifar',
                   '--threads', '2'),
             ServedPeer('lance', 'py', 'lance', 'labels', ('pack-cifar', 'lance-cifar'))], {PEER: 1},
            terms='60,000 × 3 KB, warm, 2 threads; a record holds all of its features, a columnar format reads one column'),
        Row('start', 'process start to the first record of a 10-shard data set', 1,
            [ours('recpack cat', ['cat', '{work}/out/ten-shards', '--record', '0', '--json'])], {}, unit='ms',
            terms='60,000 × 3 KB, warm; a whole process', alone='peers start in Python: "From Python" has them'),
    ]


def memory(_: Setting) -> list[Row]:
    """Peak resident memory; the counts of a row should differ in nothing but the mapped index."""
    def row(job: str, command: str, words, out: str = '') -> Row:
        entrants = [ours(f'recpack {command}, {count:,} records', words(count), out)
                    for count in (10_000, 1_000_000)]
        entrants += [Program(f'sparse, {count:,}', OURS,
                             ['{build}/bench/pack/memory_bench', '--job', job, '--records',
                              str(count), '--out', f'{{work}}/out/sparse-{count}'], job)
                     for count in (10_000, 1_000_000, 400_000_000)]
        for entrant in entrants:
            entrant.peak = True
        return Row(f'memory-{job}', f'peak memory of {job}', 1_000_000, entrants, unit='MB',
                   terms='sparse: shards of 1,000 records; bench/pack/memory_bench.cc',
                   alone='a limit that we hold ourselves to')
    small = '{{work}}/small/{}.tfrecord'.format
    return [row('pack', 'pack', lambda n: ['pack', small(n), '{work}/out/memory', '--from',
                                           'tfrecord', *UNSYNCED], 'memory'),
            row('index', 'index', lambda n: ['index', small(n), '--out', '{work}/out/index',
                                             '--quiet', '--json'], 'index'),
            row('read', 'verify', lambda n: ['verify', small(n), '--quiet', '--json'])]


GROUPS = [pack_cifar, pack_files, epoch, reading, parsing, access, memory]


def all_rows(setting: Setting) -> list[Row]:
    return [row for group in GROUPS for row in group(setting)]
