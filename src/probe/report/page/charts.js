// Charts over time: redrawn at each width, readable by pointer, arrow keys and as a table.

function table(caption, head, rows, numeric = () => true) {
  const cell = (tag, text, i, scope) =>
      make(tag, {class: numeric(i) ? 'n' : null, scope: scope ?? null}, text);
  return make(
      'div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption},
      make(
          'table', {}, make('caption', {}, caption),
          make('thead', {}, make('tr', {}, head.map((text, i) => cell('th', text, i, 'col')))),
          make(
              'tbody', {},
              rows.map(
                  (row) => make(
                      'tr', {},
                      row.map(
                          (text, i) =>
                              i === 0 ? cell('th', text, i, 'row') : cell('td', text, i)))))));
}

// `spec`: title, note, unit, begin, end, layers ({name, colour, values}), kind ('stack', 'lines',
// 'heat'), most (end of the axis; default: from the values), height, line ({value, name}).
function timeFigure(spec) {
  const {begin, end, layers, unit} = spec;
  const listed = layers.length <= 16 ? layers : [];  // the table lists more
  const name = id('figure');
  const last = begin.length - 1;
  const from = begin[0], span = Math.max(end[last] - from, 1e-9);
  const values = listed.map((layer) => shown(layer.mean ?? mean(layer.values, begin, end), unit));
  const readings = values.map((value) => make('b', {}, value));
  const swatch = (layer) => layer.colour ?
      make('span', {class: 'swatch', style: {background: `var(--${layer.colour})`}}) :
      null;
  const legend = make(
      'ul', {class: 'legend', 'aria-label': 'Key, with means over the run'},
      listed.map((layer, i) => make('li', {}, swatch(layer), layer.name, readings[i])));
  const when = make('span', {class: 'soft'}, spec.note ?? 'means over the run');
  const mark = make('i');
  const cursor = make(
      'div', {
        class: 'cursor',
        tabindex: 0,
        role: 'slider',
        'aria-label': `Time in: ${spec.title}`,
        'aria-valuemin': 0,
        'aria-valuemax': last,
        'aria-valuenow': 0,
        'aria-valuetext': 'whole run'
      },
      mark);
  const plot = make('div', {class: 'plot'});
  const text = `${spec.title}, over ${seconds(span)}. Means: ` +
      listed.map((layer, i) => `${layer.name} ${values[i]}`).join(', ') + '.';

  let at = -1;
  const place = (time) => LEFT + (time - from) / span * (plot.clientWidth - LEFT - RIGHT);
  function show(index) {
    at = index;
    cursor.classList.toggle('on', index >= 0);
    const stretch = index < 0 ? spec.note ?? 'means over the run' :
                                `${seconds(begin[index] - from)} to ${seconds(end[index] - from)}`;
    when.textContent = stretch;
    listed.forEach((layer, i) => {
      readings[i].textContent = index < 0 ? values[i] : shown(layer.values[index], unit);
    });
    cursor.setAttribute('aria-valuenow', Math.max(index, 0));
    cursor.setAttribute(
        'aria-valuetext',
        index < 0 ? 'whole run' :
                    `${stretch}: ` +
                listed.map((layer) => `${layer.name} ${shown(layer.values[index], unit)}`)
                    .join(', '));
    if (index >= 0) mark.style.left = `${place((begin[index] + end[index]) / 2) - LEFT}px`;
  }
  function indexAt(x) {
    const time = from + (x - LEFT) / (plot.clientWidth - LEFT - RIGHT) * span;
    const found = end.findIndex((stop) => time < stop);
    return Math.max(0, found < 0 ? last : found);
  }
  cursor.addEventListener(
      'pointermove', (event) => show(indexAt(event.clientX - plot.getBoundingClientRect().left)));
  cursor.addEventListener('pointerleave', () => show(-1));
  cursor.addEventListener('blur', () => show(-1));
  cursor.addEventListener('keydown', (event) => {
    const page = Math.max(1, Math.round(last / 10));
    const move = {
      ArrowRight: 1,
      ArrowUp: 1,
      ArrowLeft: -1,
      ArrowDown: -1,
      PageUp: page,
      PageDown: -page
    }[event.key];
    if (event.key === 'Home')
      show(0);
    else if (event.key === 'End')
      show(last);
    else if (event.key === 'Escape')
      show(-1);
    else if (move)
      show(Math.min(last, Math.max(0, at + move)));
    else
      return;
    event.preventDefault();
  });

  function draw() {
    const width = Math.max(240, plot.clientWidth);
    const svg = drawTime(spec, width, name, text);
    plot.replaceChildren(svg, cursor);
    Object.assign(cursor.style, {left: `${LEFT}px`, right: `${RIGHT}px`});
  }
  new ResizeObserver(draw).observe(plot);

  const details = make('details', {}, make('summary', {}, 'As a table'));
  details.addEventListener('toggle', () => {
    if (details.childElementCount > 1) return;
    details.append(table(
        spec.title, ['from', 'to', ...layers.map((layer) => layer.name)],
        begin.map(
            (start, i) =>
                [seconds(start - from), seconds(end[i] - from),
                 ...layers.map((layer) => shown(layer.values[i], unit))])));
  });
  return make(
      'figure', {id: name, 'aria-labelledby': `${name}-title`},
      make('figcaption', {}, make('span', {id: `${name}-title`}, spec.title), when), legend, plot,
      details);
}
