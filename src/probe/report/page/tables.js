// Tables and bars: the verdict's scale, the mean step, stages, kernels and copies.
const PARTS = [
  ['input_wait', 'waits for input', 'wait'], ['copies', 'copies to the device', 'copies'],
  ['device_copies', 'copies on devices', 'a'], ['exchange', 'exchange', 'exchange'],
  ['device', 'device', 'device'], ['other', 'other', 'other']
];

const meter = (share, colour) => make('span', {class: 'meter', 'aria-hidden': 'true'}, make('i', {
                                        style: {
                                          width: `${Math.min(100, 100 * share).toFixed(1)}%`,
                                          background: colour ? `var(--${colour})` : ''
                                        }
                                      }));

// Draws the interval on the scale of the verdict's bands.
function scaleOf(estimate) {
  const most = Math.min(1, Math.max(0.3, estimate.high * 1.25));
  const width = 860, name = id('scale');
  const x = (share) => Math.min(share / most, 1) * width;
  const text =
      `Waits for input: ${percent(estimate.value)} of step time, in 95 of 100 cases between ` +
      `${percent(estimate.low)} and ${
          percent(estimate.high)}. Bands: below 5 % not input-bound, from 20 % highly.`;
  const svg = make(
      'svg', {
        class: 'scale',
        role: 'img',
        viewBox: `0 -4 ${width} 46`,
        width: '100%',
        'aria-labelledby': name
      },
      make('title', {id: name}, text));
  const bands = [
    [0, .05, 'good', 'not'], [.05, .2, 'fair', 'moderately'], [.2, 1, 'poor', 'highly input-bound']
  ];
  for (const [from, to, colour, word] of bands) {
    if (from >= most) continue;
    svg.append(
        make('rect', {
          x: x(from),
          y: 8,
          width: x(Math.min(to, most)) - x(from) - 2,
          height: 8,
          rx: 2,
          fill: `var(--${colour})`,
          opacity: .45
        }),
        make('text', {x: x(from) + 2, y: 34}, `${percent(from, 0)} ${word}`));
  }
  svg.append(
      make('rect', {
        x: x(estimate.low),
        y: 3,
        width: Math.max(3, x(estimate.high) - x(estimate.low)),
        height: 18,
        rx: 3,
        fill: 'var(--ink)',
        opacity: .35
      }),
      make(
          'rect',
          {x: x(estimate.value) - 2, y: -2, width: 4, height: 28, rx: 1, fill: 'var(--ink)'}));
  return svg;
}

// Draws the mean step as one bar.
function meanStep(parts) {
  const name = id('mean-step'), width = 860;
  const there = PARTS.filter(([key]) => (parts[key] ?? 0) > 0.0005);
  const text = 'A step on average: ' +
      there.map(([key, word]) => `${word} ${percent(parts[key])}`).join(', ') + '.';
  const svg = make(
      'svg', {
        role: 'img',
        viewBox: `0 0 ${width} 30`,
        width: '100%',
        height: 30,
        preserveAspectRatio: 'none',
        'aria-labelledby': name
      },
      make('title', {id: name}, text));
  let at = 0;
  for (const [key, , colour] of there) {
    svg.append(make('rect', {
      x: at * width,
      y: 0,
      width: Math.max(1, parts[key] * width - 1),
      height: 30,
      fill: `var(--${colour})`
    }));
    at += parts[key];
  }
  const key = make(
      'ul', {class: 'legend', 'aria-label': 'Parts of a step'},
      there.map(
          ([key, word, colour]) => make(
              'li', {}, make('span', {class: 'swatch', style: {background: `var(--${colour})`}}),
              word, make('b', {}, percent(parts[key])))));
  return make(
      'figure', {'aria-label': 'A step on average'}, make('figcaption', {}, 'A step on average'),
      key, make('div', {class: 'plot'}, svg));
}

function stagesTable(stages) {
  const head = [
    'stage', 'share of the workers’ time', 'rate alone', 'ceiling', 'of its ceiling',
    'what would help'
  ];
  const rate = (value) =>
      value === null || value === undefined ? '–' : `${prefixed(value, 'samples/s')}`;
  const used = stages.some((stage) => stage.next) ? head : head.slice(0, 5);
  return make(
      'div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Stages of the loader'},
      make(
          'table', {}, make('caption', {}, 'Stages of the loader the training waited for'),
          make(
              'thead', {},
              make(
                  'tr', {},
                  used.map(
                      (text, i) =>
                          make('th', {scope: 'col', class: i > 1 && i < 5 ? 'n' : null}, text)))),
          make(
              'tbody', {},
              stages.map(
                  (stage) => make(
                      'tr', {}, make('th', {scope: 'row'}, stage.name),
                      make('td', {}, meter(stage.share), percent(stage.share)),
                      make('td', {class: 'n'}, rate(stage.rate)),
                      make('td', {class: 'n'}, rate(stage.ceiling)),
                      make(
                          'td', {class: 'n'},
                          stage.ceiling_share === null   ? '–' :
                              stage.ceiling_share > 1.05 ? 'above: a reference' :
                                                           percent(stage.ceiling_share, 0)),
                      used.length > 5 ? make('td', {}, stage.next ?? '') : null)))));
}

function whatIfTable(changes) {
  const rate = (value) => typeof value === 'number' ? prefixed(value, 'samples/s') : '–';
  return table(
      'What if: predicted from what these stages cost', ['change', 'loader alone', 'training'],
      changes.map((one) => [one.change, rate(one.loader_per_s), rate(one.training_per_s)]),
      (i) => i > 0);
}

const MOST_ROWS = 20;
function activityTable(activity) {
  const all = Math.max(1, activity.rows.reduce((sum, row) => sum + row.time_ns, 0));
  const rows = activity.rows.slice(0, MOST_ROWS);
  const left = activity.rows.length - rows.length;
  const classes = rows.some((row) => row.operation);
  const head = [
    'share', 'time', 'calls', 'mean', 'shortest', 'longest', 'bytes',
    ...(classes ? ['operation'] : []), 'name'
  ];
  return [
    make(
        'div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': activity.title},
        make(
            'table', {}, make('caption', {}, activity.title),
            make(
                'thead', {},
                make(
                    'tr', {},
                    head.map(
                        (text, i) =>
                            make('th', {scope: 'col', class: i > 0 && i < 7 ? 'n' : null}, text)))),
            make(
                'tbody', {},
                rows.map(
                    (row) => make(
                        'tr', {},
                        make('td', {}, meter(row.time_ns / all), percent(row.time_ns / all)),
                        ...[seconds(row.time_ns * 1e-9), digits(row.calls),
                            seconds(row.avg_ns * 1e-9), seconds(row.min_ns * 1e-9),
                            seconds(row.max_ns * 1e-9),
                            row.bytes > 0 ? prefixed(row.bytes, 'B') : '–']
                            .map((text) => make('td', {class: 'n'}, text)),
                        classes ? make('td', {}, row.operation || '–') : null,
                        make(
                            'th', {scope: 'row', class: 'name'}, row.name || 'without a name')))))),
    left > 0 ? make('p', {class: 'soft'}, `${left} more rows are in report.json.`) : null
  ];
}

function devicesTable(devices) {
  const share = (part, whole) => whole > 0 ? percent(part / whole) : '–';
  return table(
      'Devices, from their first kernel or copy to the last',
      [
        'device', 'time', 'kernels ran', 'kernels at once', 'streams', 'computed', 'copied',
        'copies under kernels', 'idle', 'longest gap'
      ],
      devices.map(
          (use) =>
              [`${use.device} of process ${use.process}`, seconds(use.time_ns * 1e-9),
               percent(use.utilisation), digits(use.mean_at_once), digits(use.streams),
               share(use.compute_ns, use.time_ns), share(use.copies_ns, use.time_ns),
               percent(use.copy_overlap, 0), share(use.idle_ns, use.time_ns),
               use.longest_gaps_ns.length ? seconds(use.longest_gaps_ns[0] * 1e-9) : '–']),
      (i) => i > 0);
}

function gapsTable(devices) {
  const length = (ns) => ns === null ? 'longer' : `below ${seconds(ns * 1e-9)}`;
  return table(
      'Times in which a device did nothing: how many, and how long in all',
      ['device', ...devices[0].gaps.map((gaps) => length(gaps.below_ns))],
      devices.map(
          (use) =>
              [`${use.device} of process ${use.process}`,
               ...use.gaps.map(
                   (gaps) => gaps.gaps ? `${gaps.gaps}: ${seconds(gaps.time_ns * 1e-9)}` : '–')]),
      (i) => i > 0);
}
