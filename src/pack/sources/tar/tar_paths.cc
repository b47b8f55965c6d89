#include "src/pack/sources/tar/tar_paths.h"

#include <algorithm>
#include <string_view>

#include "recpack/base/error.h"
#include "src/remote/url/url.h"
#include "src/shards/files/path_pattern.h"
#include "src/shards/files/paths_once.h"

namespace recpack::pack {
namespace {

std::vector<std::string> TarPaths(const std::string& path) {
  std::vector<std::string> paths;
  for (const std::string& name : ExpandPathPattern(path)) {
    // An archive of a web server may have any name.
    const bool is_archive =
        remote::IsUrl(name) ? HasTarName(name) || remote::IsWebUrl(name) : !IsFolder(name);
    if (is_archive) {
      paths.push_back(name);
    } else {
      std::ranges::move(FilesInFolder(name, HasTarName), std::back_inserter(paths));
    }
  }
  if (paths.empty()) throw Error(ErrorKind::kNotFound, "holds no tar archives", {.path = path});
  PathsOnce once;  // the parts of a pattern may overlap
  std::erase_if(paths, [&](const std::string& archive) { return !once.Add(archive); });
  return paths;
}

}  // namespace

bool HasTarName(std::string_view name) {
  name = remote::WithoutQuery(name);
  constexpr std::string_view kEndings[] = {".tar",     ".tar.gz", ".tgz",
                                           ".tar.zst", ".tar.xz", ".tar.bz2"};
  return std::ranges::any_of(kEndings, [&](auto ending) { return name.ends_with(ending); });
}

std::vector<std::string> AllTarPaths(const TarOptions& options) {
  std::vector<std::string> paths = TarPaths(options.path);
  for (const std::string& further : options.further_paths) {
    std::ranges::move(TarPaths(further), std::back_inserter(paths));
  }
  PathsOnce once;
  for (const std::string& path : paths) once.AddOrThrow(path, "archive");
  return paths;
}

bool LooksLikeTar(const std::string& path) {
  const bool is_url = remote::IsUrl(path);
  if (is_url && HasTarName(path)) return true;
  try {
    return is_url || IsFolder(path) ? !FilesInFolder(path, HasTarName).empty() : HasTarName(path);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace recpack::pack
