# Debian and Ubuntu packages for another architecture, unpacked into a folder; nothing foreign is installed. Sourced by
# scripts that have sourced tools/common.sh.
# shellcheck shell=bash

# apt for arm64 alone, with lists and archives of its own, in $1.
foreign_apt() {
  local state=$1
  shift
  apt-get -q -y --no-install-recommends \
    -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::Cache="$state/cache" \
    -o Dir::Etc::SourceList="$state/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User="$(id -un)" \
    -o APT::Get::List-Cleanup=false -o Acquire::Languages=none -o Debug::NoLocking=1 \
    -o APT::Update::Post-Invoke-Success= "$@" </dev/null
}

# foreign_sources ID CODENAME [POCKET...]: where a release of a distribution keeps its packages for arm64, and in which
# pockets beside its own, `updates` and `security`.
foreign_sources() {
  local key url pocket
  case "$1" in
    debian)
      key=/usr/share/keyrings/debian-archive-keyring.gpg
      echo "deb [signed-by=$key] http://deb.debian.org/debian $2 main"
      for pocket in "${@:3}"; do
        url=http://deb.debian.org/debian
        if [ "$pocket" = security ]; then url+=-security; fi
        echo "deb [signed-by=$key] $url $2-$pocket main"
      done
      ;;
    ubuntu)
      key=/usr/share/keyrings/ubuntu-archive-keyring.gpg
      for pocket in "" "${@:3}"; do
        echo "deb [signed-by=$key] http://ports.ubuntu.com/ubuntu-ports $2${pocket:+-$pocket} main universe"
      done
      ;;
    *)
      echo "cross: no packages for aarch64 are known for '$1'; Debian and Ubuntu have them" >&2
      return 1
      ;;
  esac
}

# unpack_foreign ROOT LEFT_OUT PACKAGES...: with all that they need, but for archives whose file names match the extended
# regular expression LEFT_OUT. They are of this machine's release, or of FOREIGN_RELEASE, as in `debian bullseye`: of its own
# pocket alone, since those of old releases go away.
unpack_foreign() {
  local root=$1 left_out=$2 state=$1.apt archive
  shift 2
  rm -rf "$root" "$root.part" "$state"
  mkdir -p "$state"/{lists/partial,cache/archives/partial} "$root.part"
  : >"$state/status"
  local release
  # shellcheck source=/dev/null
  release=${FOREIGN_RELEASE:-$(. /etc/os-release && echo "$ID $VERSION_CODENAME updates security")}
  # shellcheck disable=SC2086
  foreign_sources $release >"$state/sources.list"
  echo "cross: fetching the package lists for arm64"
  foreign_apt "$state" update >"$state/log" 2>&1 || { cat "$state/log" && return 1; }
  echo "cross: fetching $*"
  foreign_apt "$state" install --download-only "$@" >"$state/log" 2>&1 || { cat "$state/log" && return 1; }
  for archive in "$state"/cache/archives/*.deb; do
    if ! [[ ${archive##*/} =~ $left_out ]]; then dpkg-deb -x "$archive" "$root.part"; fi
  done
  merge_lib "$root.part"
  rm -rf "$state"
  mv "$root.part" "$root"
}

# Moves $1/lib into $1/usr/lib, as on an installed system, and mends links to absolute paths.
merge_lib() {
  local link target
  if [ -d "$1/lib" ]; then
    mkdir -p "$1/usr/lib"
    cp -a "$1/lib/." "$1/usr/lib/"
    rm -rf "${1:?}/lib"
    ln -s usr/lib "$1/lib"
  fi
  find "$1/usr/lib" -type l -lname '/*' | while read -r link; do
    target=$(basename "$(readlink "$link")")
    if [ -e "$(dirname "$link")/$target" ]; then ln -sf "$target" "$link"; fi
  done
}
