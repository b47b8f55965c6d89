"""The tables of bench/results/remote.json, missed aims first, its loaders of photos, and remote-faults.json, for docs/guide/object-stores.md."""


def number(value: float, unit: str) -> str:
    if unit in ('MB/s', 'MB', 'ms', 'requests', 'images/s'):
        return f'{value:,.0f}'
    return f'{value:.2f}'


def figures(row: dict) -> str:
    return ', '.join(f"{each['label']}: {number(each['figure']['median'], row['unit'])}" for each in row['entrants'])


def aims(row: dict) -> str:
    said = []
    for target in row['targets']:
        met = '' if target['met'] else f": **missed**, {target['reached']:.2f}"
        said.append(f"{target['of']} {target['sense']} {target['target']:g}{met}")
    return '; '.join(said) or '–'


LOADERS = 'loaders-'
OURSELVES = 'ours against ourselves'
# Why a row has no peer.
ALONE = {'cap': 'peers were not run behind the slow link', 'delay': 'peers were not run behind the delay',
         'first-batch': 'peers read whole objects, and know no batches', 'bytes': 'peers read whole objects, each once',
         'heads': 'the limit that we hold ourselves to', 'memory': OURSELVES, 'stalls': OURSELVES, 'stalls-waits': OURSELVES,
         'cache-rate': OURSELVES, 'cache-hits': 'peers of the other rows keep nothing on a disk'}


def terms(row: dict) -> str:
    alone = f"no peer: {ALONE[row['name']]}; " if row['name'] in ALONE else ''
    return f"{row['terms']}; {alone}{row['rounds']} rounds, load {row['load_average']:.1f}"


def table(results: dict) -> str:
    """In Markdown, without the loaders of photos."""
    rows = [row for row in results['rows'] if not row['name'].startswith(LOADERS)]
    rows = sorted(rows, key=lambda row: all(target['met'] for target in row['targets']))
    lines = ['| figure | medians | aim | terms |', '|---|---|---|---|']
    for row in rows:
        lines.append(f"| {row['title']}, {row['unit']} | {figures(row)} | {aims(row)} | {terms(row)} |")
    return '\n'.join(lines)


def by_loader(row: dict) -> dict[str, list[float]]:
    """The medians of an entrant's epochs, in their order."""
    found = {}
    for each in row['entrants']:
        found.setdefault(each['label'].rpartition(', ')[0], []).append(each['figure']['median'])
    return found


def loaders(results: dict) -> str:
    """Rates and CPU time of the loaders of photos, each cold and warm, with how they were run. Empty where they were not."""
    rows = [row for row in results['rows'] if row['name'].startswith(LOADERS)]
    if not rows:
        return ''
    columns = [(row['title'], row['unit'], by_loader(row)) for row in rows]
    lines = ['| loader | ' + ' | '.join(f'{title}, {unit}: cold; warm' for title, unit, _ in columns) + ' | how: cold / warm | failed |',
             '|---' * (len(columns) + 3) + '|']
    for loader in columns[0][2]:
        cells = ['; '.join(number(value, unit) for value in of[loader]) for _, unit, of in columns]
        name = next(name for name in rows[0]['configs'] if rows[0]['labels'][name] in loader)
        failed = rows[0]['failures'].get(name, [])
        lines.append(f"| {loader} | {' | '.join(cells)} | {rows[0]['configs'][name]} | {len(failed)} |")
    reached = '; '.join(f"{target['of']}: {target['reached']:.2f}{'' if target['met'] else ' (**missed**)'}"
                        for target in rows[0]['targets'])
    return '\n'.join([*lines, '', f'{reached}. {terms(rows[0])}.'])


def faults(results: dict) -> str:
    """In Markdown."""
    found = {figure['name']: figure for figure in results['figures']}
    read, changed = found['read-faults'], found['changed-objects']
    consumer, pack = found['consumer-kills'], found['pack-kills']
    return '\n'.join([
        '| what | how often | result |', '|---|---|---|',
        f"| faults while reading: {', '.join(read['kinds'])} | {read['faults']:,} in {read['runs']} epochs, {read['share']:.0%} of "
        f"the requests | {read['different']} epochs with other batches, {read['hangs']} hangs; {len(read['errors'])} ended with an "
        'error, as a record came damaged twice |',
        f"| answers of another version | {changed['changes']} in {changed['runs']} epochs | {changed['said']} errors that say so, "
        f"{changed['wrong']} wrong batches |",
        f"| `kill -9` of a consumer, which resumes by its token | {consumer['kills']} in {consumer['epochs']} epochs, with faults | "
        f"{consumer['different']} epochs with records lost, doubled or different; {len(consumer['errors'])} ended with an error as above |",
        f"| `kill -9` of `recpack pack` into a store | {pack['kills']} in {pack['jobs']} jobs, with faults | {pack['different']} jobs "
        f"with other objects, {pack['unfinished_uploads_left']} unfinished uploads left |"])
