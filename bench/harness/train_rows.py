"""The rows of bench/results/train.json: what is compared with what."""
from harness.entrants import CEILING, OURS, PEER, ServedPeer, ServedProgram, Setting
from harness.measure import Row

STEP = '{build}/bench/train/step_bench'
PEERS = {'f32': ('f32', 'f32-channels-last'),
         'bf16': ('bf16-autocast-channels-last', 'bf16-channels-last')}


def ours(label: str, kind: str, *flags: str) -> ServedProgram:
    return ServedProgram(label, OURS, [STEP, 'step', '--type', kind, *flags])


def step(kind: str) -> Row:
    peers = [ServedPeer(f'torch, {form}', 'vision', 'torch_resnet', form) for form in PEERS[kind]]
    return Row(f'step-{kind}', f'a training step, ResNet 16–128, batch 128, {kind}', 0,
               [ours('recpack, NHWC', kind),
                ours('recpack, NHWC, unfused', kind, '--norm', 'unfused'),
                ours('recpack, NCHW', kind, '--layout', 'nchw'), *peers,
                ServedProgram('matrix product of as many operations', CEILING,
                              [STEP, 'product', '--type', kind])],
               {PEER: 1.2}, note='forward, backward, SGD with momentum; one batch that stays')


def placement() -> Row:
    """Whole steps of as many threads in all; table.py shows them in a table of their own."""
    def placed(label: str, devices: str, place: str) -> ServedProgram:
        return ServedProgram(label, OURS, ['{build}/bench/train/placement_bench',
                                           '--devices', devices, '--place', place])
    return Row('placement', 'a training step of DeepCoNN, batch 128, f32, on CPU devices', 0,
               [placed('one device', '1', 'one'),
                placed('towers on two', '2', 'user=cpu:0,item=cpu:1'),
                placed('alternating', '2', 'alternate')],
               note='forward, backward, SGD with momentum; one batch that stays; a device of 2 '
                    'threads, or two of one each')


def all_rows(_: Setting) -> list[Row]:
    return [*(step(kind) for kind in PEERS), placement()]
