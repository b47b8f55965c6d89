#!/usr/bin/env bash
# Packs CIFAR-10 into shards, looks at them, trains on them, watched; sets up and builds what is
# missing.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cifar_url=https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz
cifar_sha256=6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce

usage() {
  cat <<END
usage: tools/demo.sh [--data PATH] [--out FOLDER] [--epochs N] [--no-setup]

Packs CIFAR-10 into TFRecord shards, lists and verifies them, draws a contact sheet, loads them as a
trainer would, and trains a small network on them; says how long each step and an epoch took, and
ends with the verdict on that training (report.html). Installs what is missing and builds the
programs first.

  --data PATH   the CIFAR-10 archive (python or binary version) or its extracted folder. Without it
                the official archive (170 MB) is downloaded once, its SHA-256 checked; where that
                fails, a stand-in with the same files and layout, but drawn pictures, is made
  --out FOLDER  where the results go (default: demo-out; what an earlier run left is replaced)
  --epochs N    the long form: train for N passes over the data, not for 100 steps. Three take some
                minutes on two cores
  --no-setup    install nothing

The archive is kept in \${XDG_CACHE_HOME:-~/.cache}/recpack.
END
}

data=
epochs=
out=$repository/demo-out
setup=yes
while [ $# -gt 0 ]; do
  case "$1" in
    --data) data=${2:?--data needs a value} && shift ;;
    --data=*) data=${1#*=} ;;
    --out) out=${2:?--out needs a value} && shift ;;
    --out=*) out=${1#*=} ;;
    --epochs) epochs=${2:?--epochs needs a value} && shift ;;
    --epochs=*) epochs=${1#*=} ;;
    --no-setup) setup=no ;;
    --help | -h) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift
done

cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/recpack
archive=$cache/cifar-10-python.tar.gz
stand_in=$out/stand-in
recpack=$repository/build/release/tools/recpack/recpack
rectrain=$repository/build/release/tools/rectrain/rectrain
recprobe=$repository/build/release/tools/recprobe/recprobe
steps=()

# step TITLE COMMAND...: shows the command, runs it and notes its time.
step() {
  local title=$1 begin end
  shift
  say "$title"
  printf '$ %s %s\n' "${1##*/}" "${*:2}"
  begin=$(date +%s%N)
  "$@"
  end=$(date +%s%N)
  steps+=("$(printf '%-22s %8.2f s' "$title" "$(((end - begin) / 10000000))e-2")")
}

has_checksum() { [ "$(sha256sum <"$1" | cut -d' ' -f1)" = "$cifar_sha256" ]; }

# Leaves the official archive in the cache, or fails.
download() {
  if [ -f "$archive" ] && has_checksum "$archive"; then
    echo "using $archive"
    return 0
  fi
  mkdir -p "$cache"
  local part=$archive.part-$$
  echo "downloading $cifar_url"
  # Gives up when no connection is made in 10 s, or under 20 kB/s for 15 s.
  if ! curl --fail --silent --show-error --location --connect-timeout 10 --speed-limit 20000 \
    --speed-time 15 --output "$part" "$cifar_url"; then
    rm -f "$part"
    return 1
  fi
  if ! has_checksum "$part"; then
    echo "what came is not the archive: its SHA-256 is not $cifar_sha256" >&2
    rm -f "$part"
    return 1
  fi
  mv "$part" "$archive"
}

# What an earlier configuration chose (tests, benches) stays as it is.
build_recpack() {
  local choice=()
  if [ ! -e "$repository/build/release/CMakeCache.txt" ]; then
    choice=(-DRECPACK_BUILD_TESTS=OFF)
  fi
  configure release ${choice[@]:+"${choice[@]}"} || return 1
  # Where there is no oneDNN 3, the trainer is not built.
  if ! grep -q '^build rectrain_tool:' "$repository/build/release/build.ninja"; then rectrain=; fi
  build release recpack_tool
}

log=$(mktemp) trainer_log=$(mktemp)
trainer_build=
end() {
  if [ -n "$trainer_build" ]; then kill "$trainer_build" 2>/dev/null || true; fi
  rm -f "$log" "$trainer_log"
}
trap end EXIT

say "set up, and build recpack"
if [ "$setup" = yes ]; then bash "$repository/tools/setup.sh" --for build,demo; fi
if ! build_recpack >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
mkdir -p "$out"
# The trainer builds while recpack packs: by ninja itself, which ends its compilers when it is ended.
if [ -n "$rectrain" ]; then
  nice ninja -C "$repository/build/release" -j "$jobs" rectrain_tool recprobe_tool >"$trainer_log" 2>&1 &
  trainer_build=$!
fi

if [ -n "$data" ]; then
  source_note="the data given: $data"
elif download; then
  data=$archive
  source_note="the official CIFAR-10 archive"
else
  echo "the archive cannot be had; drawing a stand-in"
  if [ ! -e "$stand_in" ]; then
    rm -rf "$stand_in.part"
    step "draw a stand-in" "$recpack" stand-in "$stand_in.part"
    mv "$stand_in.part" "$stand_in"
  fi
  data=$stand_in
  source_note="a STAND-IN: same files and layout as CIFAR-10, but drawn pictures, not photographs"
fi

shards=$out/cifar10
step "pack" "$recpack" pack "$data" "$shards" --from cifar10 --overwrite
step "list" "$recpack" ls "$shards"
step "verify" "$recpack" verify "$shards"
step "contact sheet" "$recpack" sheet "$shards" "$out/sheet.png"
if [ -n "$trainer_build" ]; then
  say "build rectrain and recprobe"
  built=0
  wait "$trainer_build" || built=$?
  trainer_build=
  if [ "$built" != 0 ]; then
    cat "$trainer_log" >&2
    exit 1
  fi
fi
# Two seconds of the loader as a trainer would see it, with what limits it.
step "load, 2 s and ceilings" "$recpack" bench "$shards" --recipe cifar10-train
epoch=$("$recpack" bench "$shards" --recipe cifar10-train --seconds 1 --json |
  sed -n 's/^{"samples_per_s": *\([0-9]*\).*/\1/p')
records=$("$recpack" ls "$shards" --split train --json |
  sed -n 's/.*"records": *\([0-9]*\).*/\1/p' | head -1)

say "what there is"
printf '%s\n' "${steps[@]}"
printf 'an epoch of %s images, cropped, flipped and normalised: %s s\n' "$records" \
  "$(awk "BEGIN { printf \"%.3f\", $records / $epoch }")"
echo "data:          $source_note"
echo "shards:        $shards"
echo "contact sheet: $out/sheet.png"

# The last, so that the screen ends with what it found.
if [ -z "$rectrain" ]; then
  echo "no oneDNN 3 here: the trainer is not built"
  exit 0
fi
length=(--epochs "${epochs:-1}")
if [ -z "$epochs" ]; then length+=(--max-steps 100); fi
rm -rf "$out/report"
steps=()
step "train, watched" "$recprobe" run --report "$out/report" --job demo -- \
  "$rectrain" train "$shards" "${length[@]}"
printf '\n%s\n' "${steps[@]}"
echo "report: $out/report/report.html"
