// Draws a chart over time at one width, as SVG.
const LEFT = 58, RIGHT = 8, BOTTOM = 20;  // pixels around the plot

// Formats 1.5, not 1.50; without the unit if the key names it.
const tickText = (value, unit) =>
    FORMATS[unit] ? shown(value, unit) : `${Number(value.toPrecision(3))}`;

function drawTime(spec, width, name, text) {
  const {begin, end, layers} = spec;
  const heat = spec.kind === 'heat';
  const height = spec.height ?? (heat ? Math.max(40, Math.min(12 * layers.length, 320)) : 150);
  const last = begin.length - 1, from = begin[0], span = Math.max(end[last] - from, 1e-9);
  const x = (time) => LEFT + (time - from) / span * (width - LEFT - RIGHT);
  const svg = make(
      'svg', {
        role: 'img',
        viewBox: `0 0 ${width} ${height + BOTTOM}`,
        height: height + BOTTOM,
        'aria-labelledby': `${name}-name`
      },
      make('title', {id: `${name}-name`}, text));
  const sums = begin.map(
      (_, i) => layers.reduce(
          (sum, layer) => spec.kind === 'stack' ? sum + (layer.values[i] ?? 0) :
                                                  Math.max(sum, layer.values[i] ?? 0),
          0));
  const most = spec.most ?? Math.max(...sums, spec.line?.value ?? 0, 1e-9) * 1.05;
  const y = (value) => height - Math.min(value / most, 1) * (height - 6);
  if (!heat) {
    for (const tick of ticks(most).filter((value) => value <= most * 1.001)) {
      svg.append(
          make(
              'line',
              {x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick), stroke: 'var(--grid)'}),
          make(
              'text', {x: LEFT - 8, y: y(tick) + 4, 'text-anchor': 'end'},
              spec.unit === 'share' ? `${(100 * tick).toFixed(0)} %` : tickText(tick, spec.unit)));
    }
  }
  (heat ? drawHeat : spec.kind === 'stack' ? drawStack : drawLines)(svg, spec, {x, y, height});
  if (spec.line) {
    svg.append(
        make('line', {
          x1: LEFT,
          x2: width - RIGHT,
          y1: y(spec.line.value),
          y2: y(spec.line.value),
          stroke: 'var(--ink)',
          'stroke-dasharray': '4 3'
        }),
        make(
            'text', {x: width - RIGHT, y: y(spec.line.value) - 4, 'text-anchor': 'end'},
            spec.line.name));
  }
  const marks =
      ticks(span, Math.max(2, Math.floor(width / 140))).filter((time) => time <= span * 1.001);
  marks.forEach(
      (time, i) => svg.append(make(
          'text', {
            x: x(from + time),
            y: height + 16,
            'text-anchor': i === 0          ? 'start' :
                x(from + time) > width - 30 ? 'end' :
                                              'middle'
          },
          seconds(time))));
  svg.append(
      make('line', {x1: LEFT, x2: width - RIGHT, y1: height, y2: height, stroke: 'var(--soft)'}));
  return svg;
}

function drawStack(svg, {begin, end, layers}, {x, y}) {
  const base = begin.map(() => 0);
  for (const layer of layers) {
    let path = '';
    begin.forEach((start, i) => {
      const value = layer.values[i] ?? 0;
      if (value <= 0) return;
      const left = x(start).toFixed(1), right = x(end[i]).toFixed(1);
      path += `M${left} ${y(base[i]).toFixed(1)}V${y(base[i] + value).toFixed(1)}H${right}V${
          y(base[i]).toFixed(1)}Z`;
      base[i] += value;
    });
    if (path)
      svg.append(
          make('path', {d: path, fill: `var(--${layer.colour})`, 'shape-rendering': 'crispEdges'}));
  }
}

function drawLines(svg, {begin, end, layers}, {x, y}) {
  for (const layer of layers) {
    let path = '', on = false;
    begin.forEach((start, i) => {
      const value = layer.values[i];
      if (value !== null && value !== undefined) {
        path += `${on ? 'L' : 'M'}${x(start).toFixed(1)} ${y(value).toFixed(1)}H${
            x(end[i]).toFixed(1)}`;
      }
      on = value !== null && value !== undefined;
    });
    if (path)
      svg.append(make(
          'path', {d: path, fill: 'none', stroke: `var(--${layer.colour})`, 'stroke-width': 1.6}));
  }
}

const SHADES = 20;

function drawHeat(svg, {begin, end, layers}, {x, height}) {
  const row = height / layers.length;
  const shades = new Map();  // one path per shade: a large machine has too many cells for one each
  layers.forEach((layer, at) => {
    if (layers.length <= 24 || at % 8 === 0) {
      svg.append(
          make('text', {x: LEFT - 8, y: at * row + row / 2 + 4, 'text-anchor': 'end'}, layer.name));
    }
    begin.forEach((start, i) => {
      const value = layer.values[i];
      if (value === null) return;
      const shade = Math.round(SHADES * Math.min(value, 1));
      const width = Math.max(0.5, x(end[i]) - x(start)).toFixed(1);
      const cell = `M${x(start).toFixed(1)} ${(at * row).toFixed(1)}h${width}v${
          Math.max(1, row - 1).toFixed(1)}h-${width}z`;
      shades.set(shade, (shades.get(shade) ?? '') + cell);
    });
  });
  for (const [shade, cells] of shades) {
    const opacity = (0.06 + 0.94 * shade / SHADES).toFixed(2);
    svg.append(make('path', {d: cells, fill: `rgb(var(--heat) / ${opacity})`}));
  }
}
