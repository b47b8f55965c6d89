// Tables of the program's threads and processes.

// A value that could not be read is shown as such, not as 0; its reason is listed as not seen.
const known = (value, show) => value === null ? 'not seen' : show(value);
const bytesASecond = (value) => prefixed(value, 'B/s');

// State letters of /proc.
const STATES = {
  R: 'runs',
  S: 'sleeps',
  D: 'waits for a disk',
  T: 'stopped',
  Z: 'ended',
  X: 'ended'
};

function threadsTable(threads) {
  if (threads.length === 0) return null;
  return table(
      'Threads of the program that did most',
      ['thread', 'process', 'ran', 'waited for a processor', 'waited for a disk', 'at the end'],
      threads.map(
          (one) =>
              [`${one.name} (${one.thread})`, `${one.process}`, percent(one.cpu_share),
               known(one.run_queue_wait_share, percent), known(one.block_io_wait_share, percent),
               STATES[one.state] ?? one.state]),
      (i) => i > 0 && i < 5);
}

// Lines of the program, with the longest first.
function linesTable(lines) {
  if (!lines?.length) return null;
  const doing = (one) => one.blocked < 0.5 ? 'computes' : `blocked (${one.waits})`;
  return table(
      'Lines at which the program’s threads were',
      ['threads', 'of their time', 'line', 'function', 'calling', 'part', 'what they did'],
      lines.map(
          (one) =>
              [one.role, percent(one.share), `${one.file}:${one.line}`, one.function,
               one.calling || '–', one.phase || '–', doing(one)]),
      (i) => i === 1);
}

function processesTable(processes) {
  if (processes.length === 0) return null;
  return table(
      'Processes of the program that did most',
      [
        'process', 'processors', 'read', 'of that from storage', 'written to storage',
        'major faults'
      ],
      processes.map(
          (one) =>
              [`${one.name} (${one.process})`, digits(one.cpu_cores),
               known(one.read_bytes_per_s, bytesASecond),
               known(one.read_from_storage_bytes_per_s, bytesASecond),
               known(one.written_to_storage_bytes_per_s, bytesASecond),
               `${digits(one.major_faults_per_s)} a second`]),
      (i) => i > 0);
}
