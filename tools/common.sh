# Shared parts of the scripts here and of .ci/run. Sourced, from any folder.
# shellcheck shell=bash

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=${RECPACK_JOBS:-$(nproc)}

# Objects of one clone serve all others, wherever they lie.
export CCACHE_BASEDIR=$repository CCACHE_NOHASHDIR=true

# Totals over everything that this run counts.
passed=0
failed=0

say() { printf '\n== %s\n' "$*"; }

# Adds what a program's last line `N passed, N failed` says; $1 is its output's file, $2 its exit
# status. A run that failed without counting it is one failure, and so is a run that says nothing.
add_tally() {
  local line added_passed=0 added_failed=0
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$1" | tail -n 1 || true)
  if [ -n "$line" ]; then
    added_passed=${line%% *}
    added_failed=$(sed -E 's/.*, ([0-9]+) failed/\1/' <<<"$line")
  elif [ "$2" = 0 ]; then
    echo "no line 'N passed, N failed' came out: counted as a failure"
    added_failed=1
  fi
  if [ "$2" != 0 ] && [ "$added_failed" = 0 ]; then added_failed=1; fi
  passed=$((passed + added_passed))
  failed=$((failed + added_failed))
}

# check NAME COMMAND...: runs it and counts it as one check; its time is printed.
check() {
  local name=$1 begin=$SECONDS
  shift
  say "$name"
  if "$@"; then
    passed=$((passed + 1))
    echo "-- $name: passed ($((SECONDS - begin)) s)"
  else
    failed=$((failed + 1))
    failures+=("$name")
    echo "-- $name: FAILED ($((SECONDS - begin)) s)"
  fi
}
failures=()

# counted NAME COMMAND...: runs it and adds the totals that it prints itself.
counted() {
  local name=$1 begin=$SECONDS log status=0 failed_before=$failed
  shift
  say "$name"
  log=$(mktemp)
  "$@" 2>&1 | tee "$log" || status=$?
  add_tally "$log" "$status"
  if [ "$failed" != "$failed_before" ]; then
    failures+=("$name")
    mapfile -t -O ${#failures[@]} failures < <(findings_in "$log" | sed "s/^/$name: /")
  fi
  rm -f "$log"
  echo "-- $name: $((SECONDS - begin)) s"
}

# Names of what failed, as this file's `finish`, unittest and ctest say them.
findings_in() {
  sed -nE 's/^failed: //p; s/^(FAIL|ERROR): //p; s/^[[:space:]]+[0-9]+ - (.* [(][A-Z][A-Za-z ]+[)])$/\1/p' "$1" \
    | grep -vE '[(](Skipped|Disabled)[)]$' | awk '!seen[$0]++' | head -n 20
}

# The line that closes a run, and its verdict.
finish() {
  local name
  for name in "${failures[@]}"; do echo "failed: $name"; done
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}

# configure PRESET CMAKE_ARGUMENTS...
configure() {
  cmake -S "$repository" --preset "$1" "${@:2}"
}

# build PRESET TARGETS...: TARGETS may be left out.
build() {
  local targets=("${@:2}")
  cmake --build "$repository/build/$1" --parallel "$jobs" ${targets[@]:+--target "${targets[@]}"}
}

# Leaves out the lines on tests that begin, that pass and that are skipped (which are counted).
only_findings() { grep -vE '^ +Start +[0-9]+: | Passed +[0-9.]+ sec$|\*\*\*Skipped +[0-9.]+ sec$|^[[:space:]]+[0-9]+ - .*[(]Skipped[)]$'; }

# Limit of one test; programs of many have more. The slowest one takes a sixth of it under sanitizers. One
# that hangs says where it does shortly before (tests/base/hang_report.cc, tests/cli/support.py).
export RECPACK_TEST_SECONDS=${RECPACK_TEST_SECONDS:-300}

# run_ctest PRESET CTEST_ARGUMENTS...: prints ctest's own report, then `N passed, N failed`.
run_ctest() {
  local report status header tests failures skipped disabled
  report=$(mktemp)
  ctest --test-dir "$repository/build/$1" --parallel "$jobs" --output-on-failure \
    --timeout "$RECPACK_TEST_SECONDS" \
    --no-tests=error --output-junit "$report" "${@:2}" </dev/null | only_findings
  status=${PIPESTATUS[0]}
  header=$(tr '\n' ' ' <"$report" | grep -oE '<testsuite [^>]*>' | head -n 1)
  rm -f "$report"
  number() { sed -nE "s/.*[[:space:]]$1=\"([0-9]+)\".*/\1/p" <<<"$header"; }
  tests=$(number tests) failures=$(number failures) skipped=$(number skipped)
  disabled=$(number disabled)
  if [ -z "$tests" ] || { [ "$status" != 0 ] && [ "${failures:-0}" = 0 ]; }; then
    echo "0 passed, 1 failed"
    return 1
  fi
  local left_out=$((${skipped:-0} + ${disabled:-0}))
  if [ "$left_out" != 0 ]; then echo "$left_out tests were skipped"; fi
  echo "$((tests - failures - left_out)) passed, $failures failed"
  return "$status"
}
