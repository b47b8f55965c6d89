"""A strict reader of Prometheus' text format, version 0.0.4: what Prometheus would refuse, it refuses."""
import re

NAME = r'[a-zA-Z_:][a-zA-Z0-9_:]*'
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')
SAMPLE = re.compile(rf'({NAME})(?:\{{(.*)\}})? (\S+)')
ESCAPES = {'\\n': '\n', '\\"': '"', '\\\\': '\\'}


class Bad(Exception):
    """What is wrong with a line."""


def read_labels(text, line):
    labels = {}
    at = 0
    while at < len(text):
        match = LABEL.match(text, at)
        if not match or match[1] in labels or match[1].startswith('__'):
            raise Bad(line)
        labels[match[1]] = re.sub(r'\\.', lambda escape: ESCAPES[escape[0]], match[2])
        at = match.end()
        if at < len(text) and text[at] != ',':
            raise Bad(line)
        at += 1
    return labels


def parse(text):
    """[(name, labels, value)...] of a text, and by family: its type and help."""
    if text and not text.endswith('\n'):
        raise Bad('the last line has no end')
    samples, families, seen = [], {}, set()
    family = None
    for line in text.split('\n')[:-1]:
        if line.startswith('# HELP '):
            family, _, said = line[7:].partition(' ')
            if family in families or not said:
                raise Bad(line)
            families[family] = {'help': said}
            continue
        if line.startswith('# TYPE '):
            name, _, kind = line[7:].partition(' ')
            if name != family or kind not in ('counter', 'gauge') or 'type' in families[family]:
                raise Bad(line)
            families[family]['type'] = kind
            continue
        match = SAMPLE.fullmatch(line)
        if not match or match[1] != family:
            raise Bad(line)
        labels = read_labels(match[2] or '', line)
        series = (match[1], tuple(sorted(labels.items())))
        if series in seen:
            raise Bad(f'twice: {line}')
        seen.add(series)
        samples.append((match[1], labels, float(match[3])))
    return samples, families
