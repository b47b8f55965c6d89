#!/usr/bin/env bash
# Builds the fuzz targets and runs each for a while.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'END'
usage: tools/fuzz.sh [SECONDS] [TARGET...]

Runs every fuzz target (or those named, such as pickle) for SECONDS (default 30), as many at a time as
there are processors, with ASan and UBSan, from the seeds in tests/golden. What they learn stays in
build/fuzz/corpus; an input that fails is kept in build/fuzz/crashes and its path is printed.
The last line is `N passed, N failed`. Needs clang (tools/setup.sh --for ci).
END
}

case "${1:-}" in --help | -h) usage && exit 0 ;; esac
seconds=${1:-30}
if ! [[ "$seconds" =~ ^[0-9]+$ ]]; then usage >&2 && exit 2; fi
shift || true

folder=$repository/build/fuzz

# Folders with files that TARGET reads; a pattern that matches nothing is left out.
seeds_of() {
  local golden=$repository/tests/golden
  case "$1" in
    cifar) echo "$golden"/cifar* ;;
    mat) echo "$golden"/imagenet ;;
    framing) echo "$golden"/record "$golden"/tfrecord ;;
    *) echo "$golden/$1" ;;
  esac
}

run_target() {
  local name=$1 corpus=$folder/corpus/$1 seeds=() seed
  mkdir -p "$corpus" "$folder/crashes"
  for seed in $(seeds_of "$name"); do
    if [ -d "$seed" ]; then seeds+=("$seed"); fi
  done
  "$folder/tests/fuzz/${name}_fuzz" -max_total_time="$seconds" -timeout=120 -rss_limit_mb=2048 \
    -verbosity=0 -print_final_stats=1 -artifact_prefix="$folder/crashes/$name-" \
    "$corpus" ${seeds[@]:+"${seeds[@]}"} >"$folder/$name.log" 2>&1
}

report() {
  local name=$1 runs
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$name.log")
  if [ "$2" = 0 ]; then
    passed=$((passed + 1))
    echo "$name: ${runs:-?} inputs in $seconds s, nothing found"
  else
    failed=$((failed + 1))
    failures+=("fuzz $name")
    echo "$name: FAILED"
    tail -n 60 "$folder/$name.log"
  fi
}

# Objects by another compiler, or cut off by a full disk or a kill, look up to date and do not link.
build_targets() {
  build fuzz fuzz_targets && return
  say "building anew from clean"
  build fuzz clean && build fuzz fuzz_targets
}

configure fuzz >/dev/null
build_targets
if [ $# -gt 0 ]; then
  targets=("$@")
else
  mapfile -t targets <"$folder/tests/fuzz/targets.txt"
fi
if [ ${#targets[@]} = 0 ]; then
  echo "no fuzz targets were built" >&2
  exit 1
fi

say "fuzz: ${targets[*]}"
declare -A name_of
running=0
wait_for_one() {
  local process status=0
  wait -n -p process || status=$?
  running=$((running - 1))
  report "${name_of[$process]}" "$status"
}
for name in "${targets[@]}"; do
  if [ "$running" -ge "$jobs" ]; then wait_for_one; fi
  run_target "$name" &
  name_of[$!]=$name
  running=$((running + 1))
done
while [ "$running" -gt 0 ]; do wait_for_one; done
finish
