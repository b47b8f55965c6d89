'use strict';
// Creates elements and formats numbers. Text of the report is inserted as text only, never as HTML.
let ids = 0;
const id = (name) => `${name}-${++ids}`;

function make(tag, options = {}, ...children) {
  const svg = ['svg', 'g', 'path', 'rect', 'line', 'text', 'title', 'desc'].includes(tag);
  const element = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) :
                        document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === 'style')
      Object.assign(element.style, value);
    else if (value !== null && value !== undefined)
      element.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) element.append(child);
  }
  return element;
}

// Rounds to about three digits.
function digits(value) {
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value))
    return value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ',');
  return value.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

function prefixed(value, unit) {
  for (const [limit, prefix] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) {
    if (Math.abs(value) >= limit) return `${digits(value / limit)} ${prefix}${unit}`;
  }
  return `${digits(value)} ${unit}`;
}

const percent = (share, places = 1) => `${(100 * share).toFixed(places)} %`;

function seconds(time) {
  if (time >= 7200) return `${(time / 3600).toFixed(1)} h`;
  if (time >= 120) return `${Math.floor(Math.round(time) / 60)} min ${Math.round(time) % 60} s`;
  if (time >= 1 || time === 0) return `${digits(time)} s`;
  return time >= 1e-3 ? `${digits(time * 1e3)} ms` : `${digits(time * 1e6)} µs`;
}

const FORMATS = {
  share: (value) => percent(value),
  s: seconds,
  'bytes/s': (value) => prefixed(value, 'B/s'),
  bytes: (value) => prefixed(value, 'B'),
};
function shown(value, unit) {
  if (value === null || value === undefined) return 'not seen';
  return FORMATS[unit] ? FORMATS[unit](value) : `${digits(value)} ${unit}`;
}

// Mean over time, of the values that were seen.
function mean(values, begin, end) {
  let sum = 0, time = 0;
  values.forEach((value, i) => {
    if (value === null) return;
    sum += value * (end[i] - begin[i]);
    time += end[i] - begin[i];
  });
  return time > 0 ? sum / time : null;
}

// Returns round numbers from 0 to at least `most`.
function ticks(most, count = 4) {
  const rough = (most > 0 ? most : 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((f) => f * power).find((s) => s >= rough * 0.999);
  const all = [];
  for (let at = 0; at < most + step * 0.001; at += step) all.push(at);
  return all;
}
