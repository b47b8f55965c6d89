#!/usr/bin/env bash
# Builds the site of the documents, with the references of Python and C++.
#
#   bash tools/site.sh [--no-setup]     the site is build/site/index.html
#   python3 -m http.server -d build/site    serves it; opened as files, pages have no search
#
# Makes the environment .venvs/site first (bench/peers/requirements/site.txt) and installs doxygen; with --no-setup it
# installs no packages of the system. A broken link or an unlisted page is an error.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case "${1:-}" in
  '') bash "$repository/tools/setup.sh" --for site ;;
  --no-setup) ;;
  *) echo "usage: tools/site.sh [--no-setup]" >&2 && exit 2 ;;
esac
if ! command -v doxygen >/dev/null; then
  echo "site: no doxygen; bash tools/setup.sh --for site installs it" >&2
  exit 1
fi
bash "$repository/bench/peers/setup.sh" site
cd "$repository"
export NO_MKDOCS_2_WARNING=1  # a notice about other programs of its authors
"${RECPACK_VENVS:-$repository/.venvs}/site/bin/mkdocs" build --strict
doxygen tools/site/Doxyfile
echo "site: build/site/index.html, $(find build/site -name '*.html' | wc -l) pages"
