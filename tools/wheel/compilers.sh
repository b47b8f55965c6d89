#!/usr/bin/env bash
# Makes a folder with the compilers of portable wheels for one architecture: Zig's clang, which links against glibc
# 2.28 and brings its C++ library as an archive.
#
#   bash tools/wheel/compilers.sh x86_64|aarch64
#
# The last line is the folder, with cc, c++, ar, ranlib and meson, and `recipe`, a text that tells one version of
# them from another.
set -euo pipefail

arch=$1
glibc=2.28  # manylinux_2_28
pins=(ziglang==0.17.1 meson==1.12.1)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/recpack/wheel
tools=$cache/tools
recipe="${pins[*]} $arch glibc $glibc"
folder=$cache/compilers-$arch
if [ "$(cat "$folder/recipe" 2>/dev/null)" = "$recipe" ] && "$folder/cc" --version >/dev/null 2>&1; then
  echo "$folder"
  exit 0
fi
if [ "$(cat "$tools/pins" 2>/dev/null)" != "${pins[*]}" ] || ! "$tools/bin/meson" --version >/dev/null 2>&1; then
  rm -rf "$tools"
  python3 -m venv "$tools"
  "$tools/bin/pip" install -q --disable-pip-version-check "${pins[@]}" >&2
  echo "${pins[*]}" >"$tools/pins"
fi
zig=$("$tools/bin/python" -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).parent / "zig")')
rm -rf "$folder"
mkdir -p "$folder"
ln -s "$tools/bin/meson" "$folder/meson"
for name in cc c++; do
  # Zig 0.17 preprocesses text from standard input (-E ... -) only without a version of glibc.
  cat >"$folder/$name" <<END
#!/bin/sh
case " \$* " in
  *" -E "*" - ") exec "$zig" $name -target $arch-linux-gnu "\$@" ;;
esac
exec "$zig" $name -target $arch-linux-gnu.$glibc "\$@"
END
done
for name in ar ranlib; do
  printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" "$name" >"$folder/$name"
done
chmod +x "$folder"/{cc,c++,ar,ranlib}
echo "$recipe" >"$folder/recipe"
echo "$folder"
