"""The rows of bench/results/train.json: what is compared with what."""
from harness.entrants import OURS, PEER, REFERENCE, ServedPeer, ServedProgram, Setting
from harness.measure import Row
from harness.trainings import ReviewEpoch

STEP = '{build}/bench/train/step_bench'
PEERS = {'f32': ('f32', 'f32-channels-last', 'f32-channels-last-compiled'),
         'bf16': ('bf16-autocast-channels-last', 'bf16-channels-last',
                  'bf16-autocast-channels-last-compiled', 'bf16-channels-last-compiled')}

DEEPCONN_PEERS = {'f32': ('f32', 'f32-conv1d', 'f32-compiled', 'f32-conv1d-compiled'),
                  'bf16': ('bf16-autocast', 'bf16', 'bf16-autocast-compiled', 'bf16-compiled')}
DEEPCONN = '{build}/bench/train/deepconn_bench'


def ours(label: str, kind: str, *flags: str) -> ServedProgram:
    return ServedProgram(label, OURS, [STEP, 'step', '--dtype', kind, *flags])


def step(kind: str) -> Row:
    peers = [ServedPeer(f'torch, {form}', 'vision', 'torch_resnet', form) for form in PEERS[kind]]
    return Row(f'step-{kind}', f'a training step, ResNet 16–128, batch 128, {kind}', 0,
               [ours('recpack, NHWC', kind),
                ours('recpack, NHWC, unfused', kind, '--norm', 'unfused'),
                ours('recpack, NCHW', kind, '--data-format', 'nchw'), *peers,
                ServedProgram('matrix product of as many operations', REFERENCE,
                              [STEP, 'product', '--dtype', kind])],
               {PEER: 1.2}, terms='forward, backward, SGD with momentum; one batch that stays')


def deepconn(kind: str) -> Row:
    peers = [ServedPeer(f'torch, {form}', 'vision', 'torch_deepconn', form)
             for form in DEEPCONN_PEERS[kind]]
    return Row(f'deepconn-{kind}', f'a training step, DeepCoNN, 256 tokens, batch 128, {kind}', 0,
               [ServedProgram('recpack', OURS, [DEEPCONN, '--dtype', kind]), *peers],
               {PEER: 1.2}, terms='forward, backward, SGD with momentum; one batch that stays')


def threads() -> Row:
    """What threads, binding and waiting make of a step; table.py has a table of it. That of several
    devices side by side is a sweep's (bench/results/sweep-strategies)."""
    def run(label: str, *flags: str, **environment: str) -> ServedProgram:
        words = ['env', *(f'{name}={value}' for name, value in environment.items()), STEP, 'step']
        return ServedProgram(label, OURS, [*words, *flags])
    two, bound = ('--threads', '2'), ('--bind', '1')
    return Row('threads', 'a training step, ResNet 16–128, batch 128, f32: threads and binding', 0,
               [run('2 threads', *two), run('2 threads, bound', *two, *bound),
                run('1 thread', '--threads', '1'), run('1 thread, bound', '--threads', '1', *bound),
                run('4 threads', '--threads', '4'),
                run('2 threads, OMP_WAIT_POLICY=active', *two, OMP_WAIT_POLICY='active'),
                run('2 threads, OMP_WAIT_POLICY=passive', *two, OMP_WAIT_POLICY='passive'),
                run('2 threads, GOMP_SPINCOUNT=1000', *two, GOMP_SPINCOUNT='1000'),
                run('2 threads, bound, OMP_WAIT_POLICY=passive', *two, *bound,
                    OMP_WAIT_POLICY='passive')],
               terms='threads are GNU OpenMP\'s; waiting: how long a thread spins before it sleeps')


def placement() -> Row:
    """Epochs of as many threads in all; table.py shows them in a table of their own."""
    two = ('--devices', 'cpu:0,cpu:1', '--threads', '1', '--place')
    return Row('placement-epochs',
               'an epoch of DeepCoNN by rectrain train, batch 128, f32, on CPU devices', 0,
               [ReviewEpoch('one device', '--devices', 'cpu:0', '--threads', '2'),
                ReviewEpoch('towers on two', *two, 'user=cpu:0,item=cpu:1'),
                ReviewEpoch('alternating', *two, 'alternate')],
               terms='the second epoch over reviews that were drawn; a device of 2 threads, or two '
                    'of one each')


def all_rows(_: Setting) -> list[Row]:
    return [*(step(kind) for kind in PEERS), *(deepconn(kind) for kind in DEEPCONN_PEERS),
            placement(), threads()]
