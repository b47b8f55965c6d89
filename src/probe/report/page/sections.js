// Charts of the sections: steps, devices, processors, the loader's stages.

const deviceOf = (steps) => steps.device === null ?
    `process ${steps.process}` :
    `device ${steps.device} of process ${steps.process}`;
const MOST_TRAINERS = 8;

function stepFigure(steps) {
  return timeFigure({
    title: `Steps of ${deviceOf(steps)}`,
    unit: 's',
    kind: 'stack',
    begin: steps.begin_s,
    end: steps.end_s,
    note: `mean time of a step; ${digits(steps.steps)} steps`,
    layers: PARTS
                .map(([key, name, colour]) => {
                  const values = steps[`${key}_s`],
                        all = steps.count.reduce((sum, count) => sum + count, 0);
                  return {
                    name,
                    colour,
                    values,
                    mean: values.reduce((sum, value, i) => sum + value * steps.count[i], 0) / all
                  };
                })
                .filter((layer) => layer.mean > 0)
  });
}

const COLOURS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
// Charts for a group of the timeline: one per device (or other owner) and unit.
function figuresOf(group, title) {
  const {timeline} = report, found = new Map();
  for (const series of timeline[group] ?? []) {
    if (!series.values.some((value) => value !== null && value !== 0) && group !== 'pressure')
      continue;
    const key = JSON.stringify([series.of, series.unit]);
    found.set(key, [...(found.get(key) ?? []), series]);
  }
  return [...found.values()].map(
      (all) => timeFigure({
        title: all[0].of ? `${title} ${all[0].of}`.trim() : title,
        unit: all[0].unit,
        kind: 'lines',
        height: 110,
        most: all[0].unit === 'share' && group !== 'pressure' ? 1 : undefined,
        begin: timeline.begin_s,
        end: timeline.end_s,
        layers: all.map(
            (series, i) =>
                ({name: series.name, colour: COLOURS[i % COLOURS.length], values: series.values}))
      }));
}

function processors() {
  const {timeline} = report;
  if (timeline.begin_s.length === 0) return [];
  const cores = timeline.cores ?? [], times = {begin: timeline.begin_s, end: timeline.end_s};
  const colours = {'the program': 'a', others: 'other', 'held back by a quota': 'b'};
  return [
    timeline.cpu.length ? timeFigure({
      ...times,
      title: 'Processors in use',
      unit: 'cores',
      kind: 'stack',
      layers: timeline.cpu.map(
          (series) =>
              ({name: series.name, colour: colours[series.name] ?? 'd', values: series.values})),
      line: cores.length ? {value: cores.length, name: `${cores.length} in the machine`} : undefined
    }) :
                          null,
    cores.length ? timeFigure({
      ...times,
      title: 'Each core',
      unit: 'share',
      kind: 'heat',
      note: 'the darker, the busier',
      layers: cores.map((series) => ({name: series.of.replace('core ', ''), values: series.values}))
    }) :
                   null,
    figuresOf('pressure', 'Pressure: time in which some task waited')
  ];
}

function stages() {
  const shares = (report.timeline.stages ??
                  []).filter((series) => series.values.some((value) => value > 0.001));
  const loaders = [...new Set(shares.map((series) => series.of))];
  const colours = {
    decode: 'a',
    augment: 'd',
    input: 'b',
    read: 'e',
    write: 'c',
    room: 'other',
    parse: 'f',
    function: 'g',
    batch: 'h',
    plan: 'soft'
  };
  return [
    report.stages.length ? stagesTable(report.stages) : null,
    report.loader?.next ?
        make('p', {class: 'next'}, make('strong', {}, 'Next: '), report.loader.next) :
        null,
    report.loader?.what_if.length ? whatIfTable(report.loader.what_if) : null,
    loaders.map((of) => timeFigure({
                  title: `Workers of ${of}`,
                  unit: 'share',
                  kind: 'stack',
                  most: 1,
                  begin: report.timeline.begin_s,
                  end: report.timeline.end_s,
                  note: 'share of the workers’ time',
                  layers: shares.filter((series) => series.of === of)
                              .map((series) => ({
                                     name: series.name,
                                     colour: colours[series.name] ?? 'other',
                                     values: series.values
                                   }))
                })),
    figuresOf('loader', '')
  ];
}
