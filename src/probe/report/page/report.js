// Builds the page, section by section, from the report embedded in it.
const report = JSON.parse(document.getElementById('data').textContent);
const main = document.getElementById('report');
const contents = make('ul');
const MOODS = {
  'not input-bound': 'good',
  'moderately input-bound': 'fair',
  'highly input-bound': 'poor'
};
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function section(name, title, ...children) {
  const there = children.flat(Infinity).filter((child) => child);
  if (there.length === 0 && name !== 'verdict') return;
  const heading = make('h2', {id: `${name}-title`}, title);
  main.append(make('section', {id: name, 'aria-labelledby': `${name}-title`}, heading, ...there));
  contents.append(
      make('li', {}, make('a', {href: `#${name}`}, name === 'verdict' ? 'Verdict' : title)));
}

function masthead() {
  const {job} = report;
  document.getElementById('job-command').textContent = job.command.length ?
      job.command
          .map(
              (word) =>
                  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll('\'', '\'\\\'\'')}'`)
          .join(' ') :
                                                  'a trace that was read';
  const facts = [
    job.host && `on ${job.host}`, job.user && `by ${job.user}`,
    job.begin && job.begin.slice(0, 19).replace('T', ' ') + ' UTC',
    `${seconds(job.seconds)} watched${job.running ? ' so far' : ''}`, job.rank !== null && `rank ${job.rank} of ${job.world_size}`,
    job.gpus !== null && (job.gpus === 1 ? '1 GPU' : `${job.gpus} GPUs`),
    job.exit_code !== null && `exit code ${job.exit_code}`
  ];
  document.getElementById('job-facts').textContent = facts.filter(Boolean).join(' · ');
}

function figure(term, value, note) {
  return make(
      'div', {}, make('dt', {}, term),
      make('dd', {}, value, note ? make('small', {}, note) : null));
}

function listed(title, lines) {
  if (!lines?.length) return null;
  return [
    make('h3', {}, title), make('ul', {class: 'plain'}, lines.map((line) => make('li', {}, line)))
  ];
}

// Shown if the share of input waits is unknown.
function unknown(found) {
  const {period} = found;
  const seen = found.steps ? `${digits(found.steps)} steps were seen, ${
                                 digits(found.steps_per_s)} a second, and no call for a batch.` :
      period ? `No steps were seen; ${period.of} repeats every ${
                   seconds(period.seconds)}, which may be one.` :
               'No steps were seen.';
  return make(
      'p', {},
      `Whether it waits for input is not known. ${seen} ` +
          'What could not be seen, and why, stands below.');
}

const MOST_SPEEDUP = 50;
function speedup(saves) {
  const times = 1 / Math.max(1e-9, 1 - saves);
  return times >= MOST_SPEEDUP ? `over ${MOST_SPEEDUP} times as fast` :
                                 `${times.toFixed(2)} times as fast`;
}

function causes(found) {
  const named = (found.causes ?? []).filter((cause) => cause.saves !== 0);
  if (named.length === 0) return null;
  return [
    make('h3', {}, 'Causes, and what curing each alone would save'),
    make(
        'ol', {},
        named.map(
            (cause) => make(
                'li', {}, make('strong', {}, cause.cause),
                cause.saves === null ?
                    '' :
                    `: ${percent(cause.saves)} of step time, ${speedup(cause.saves)}`,
                cause.where ? make('code', {}, ` ${cause.where}`) : null)))
  ];
}

// The one thing to do, with its gain and, if known, the line of the program; a text may name it already.
function action(found) {
  const {action: next} = found;
  if (!next)
    return found.cure ? make('p', {class: 'next'}, make('strong', {}, 'Next: '), found.cure) : null;
  return make(
      'p', {class: 'next'}, make('strong', {}, 'Do this first: '), next.text,
      next.where && !next.text.includes(next.where.split(' ')[0]) ? make('code', {}, ` ${next.where}`) :
                                                                    null,
      next.saves === null ? null : make('strong', {}, ` Expected: ${speedup(next.saves)}.`));
}

function verdict() {
  const {verdict: found} = report;
  const share = found.input_share, gain = found.gain;
  const against = (found.notes ?? []).filter((line) => !report.unseen.includes(line));
  const limited = (one) =>
      one === null || one >= MOST_SPEEDUP - 1 ? `over ${MOST_SPEEDUP}x` : percent(one);
  const between = (of) => `between ${limited(of.low)} and ${limited(of.high)} in 95 of 100 cases`;
  const where = found.bottleneck && found.bottleneck !== 'unknown' ?
      `What holds it back: ${found.bottleneck}${
          found.rank === undefined ? '' : `, rank ${found.rank}`}` :
                                     null;
  section(
      'verdict', capital(found.verdict), where ? make('p', {class: 'where'}, where) : null,
      share ?
          make(
              'dl', {class: 'figures'},
              figure(
                  `of step time waits for input${found.upper_bound ? ', at most' : ''}`,
                  percent(share.value), between(share)),
              figure(
                  'more steps a second without',
                  gain.value === null || gain.value >= MOST_SPEEDUP - 1 ? limited(null) :
                                                                          `+${percent(gain.value)}`,
                  between(gain)),
              figure(
                  'steps a second', digits(found.steps_per_s),
                  `${digits(found.steps)} steps counted, the first ${found.left_out} left out`),
              found.beside ?
                  figure(
                      'of the time is beside the steps', percent(found.beside.share),
                      `${percent(found.beside.waits)} waits for the input of evaluations`) :
                  null) :
          null,
      share ? scaleOf(share) : unknown(found), causes(found), listed('Evidence', found.evidence),
      listed('Hints from rules of thumb (not used for the verdict)', found.hints),
      listed('Caveats and missing data', against), action(found));
  document.getElementById('verdict').style.setProperty(
      '--mood', `var(--${MOODS[found.verdict] ?? 'none'})`);
}

function theme() {
  const button = document.getElementById('theme'),
        dark = matchMedia('(prefers-color-scheme: dark)');
  const set = (on) => {
    document.documentElement.dataset.theme = on ? 'dark' : 'light';
    button.setAttribute('aria-pressed', on);
  };
  set(dark.matches);
  dark.addEventListener('change', () => set(dark.matches));
  button.addEventListener('click', () => set(document.documentElement.dataset.theme !== 'dark'));
}

theme();
masthead();
verdict();
section(
    'steps', 'Where a step’s time goes',
    report.verdict.breakdown ? meanStep(report.verdict.breakdown) : null,
    report.steps.slice(0, MOST_TRAINERS).map(stepFigure),
    report.steps.length > MOST_TRAINERS ?
        make(
            'p', {class: 'soft'},
            `${report.steps.length - MOST_TRAINERS} more trainers are in report.json.`) :
        null);
section('lines', 'Lines of the program', linesTable(report.verdict.lines));
section('stages', 'The loader’s stages', stages());
section(
    'devices', 'Devices', figuresOf('devices', ''),
    report.devices.length ? devicesTable(report.devices) : null,
    report.devices.length ? gapsTable(report.devices) : null);
section('processors', 'Processors', processors(), threadsTable(report.threads));
section(
    'storage', 'Storage, memory and network', processesTable(report.processes),
    figuresOf('disks', 'Disk'), figuresOf('memory', 'Memory'), figuresOf('network', 'Network'));
section('limits', 'Limits of the container', figuresOf('limits', 'Limits'));
section('activities', 'Kernels, copies and ranges', report.tables.map(activityTable));
section(
    'how', 'How each figure was obtained',
    report.how.length ?
        make(
            'dl', {class: 'how'},
            report.how.map(({figure: of, how}) => [make('dt', {}, of), make('dd', {}, how)])) :
        null);
section(
    'unseen', 'What could not be seen',
    report.unseen.length ?
        make('ul', {class: 'plain'}, report.unseen.map((line) => make('li', {}, line))) :
        make('p', {}, 'Nothing that was looked for.'));
document.getElementById('contents').append(contents);
document.getElementById('colophon').textContent = `Written by recprobe ${report.recprobe}. ` +
    'This page holds all it shows and asks no network; report.json beside it has the figures, ' +
    'trace.json is for ui.perfetto.dev.';
