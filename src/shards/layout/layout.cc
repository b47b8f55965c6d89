#include "src/shards/layout/layout.h"

#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/folders.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/remote/store/data_files.h"
#include "src/remote/store/listing.h"
#include "src/remote/url/url.h"
#include "src/shards/files/path_pattern.h"
#include "src/shards/files/paths_once.h"
#include "src/shards/files/system_errors.h"
#include "src/shards/layout/split_folders.h"
#include "src/shards/layout/split_names.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;

// Tells whether a file beside shards is not a shard.
bool IsSideFile(const std::string& name) {
  return name.starts_with('.') || name.ends_with(".idx") || name.ends_with(".recindex") ||
         name.ends_with(".json") || name.find(".tmp") != std::string::npos;
}

bool HasShardName(const std::string& name) {
  return !IsSideFile(name) && (HasShardExtension(name) || name.find("-of-") != std::string::npos);
}

Layout GroupBySplit(std::vector<std::string> paths, const std::string& folder) {
  SortAndUnite(paths);  // parts of a pattern may overlap
  std::map<std::string, NameList> splits;
  std::vector<std::string> names;
  for (const auto& path : paths) {
    names.push_back(ShardName(path));
    splits[InferSplit(names.back())].push_back(path);
  }
  Layout layout{.folder = folder, .splits = {}, .manifest = {}};
  if (auto unclear = UnclearSplits(names)) layout.notices.push_back(std::move(*unclear));
  for (auto& [name, shards] : splits) {
    LayoutSplit split{.name = name, .shards = std::move(shards), .index = {}};
    if (LieTogether(split.shards)) split.index = IndexBeside(name, split.shards.front());
    layout.splits.push_back(std::move(split));
  }
  return layout;
}

Layout FromManifest(const std::string& folder) {
  Layout layout{
      .folder = folder, .splits = {}, .manifest = ReadManifest(remote::DataFiles(), folder)};
  for (const auto& split : layout.manifest->splits) {
    LayoutSplit found{.name = split.name, .shards = {}, .index = {}, .listed = {}};
    found.listed.reserve(split.shards.size());
    for (const ManifestShard& shard : split.shards) {
      found.shards.push_back(folder + "/" + shard.file);
      found.listed.push_back({.records = shard.records, .bytes = shard.bytes});
    }
    if (!split.index.empty()) found.index = folder + "/" + split.index;
    layout.splits.push_back(std::move(found));
  }
  return layout;
}

Layout FromNames(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
    const fs::path& path = at->path();
    if (HasShardName(path.filename()) && !fs::is_directory(FileStatus(path))) paths.push_back(path);
  }
  if (code) throw SystemError("cannot list", folder, code.value());
  if (paths.empty()) {
    const bool unfinished = PosixFiles().Exists(folder + "/.recpack/plan.json");
    throw Error(ErrorKind::kNotFound,
                unfinished ? "holds an unfinished pack and no shard yet"
                           : "holds neither a manifest.json nor a TFRecord file",
                {.path = folder},
                unfinished ? "run the same `recpack pack` again" : "name a folder of shards");
  }
  return GroupBySplit(std::move(paths), folder);
}

Layout FromDamagedManifest(const std::string& folder) {
  try {
    return FromManifest(folder);
  } catch (const Error& error) {
    const bool is_damage = error.kind() == ErrorKind::kCorrupt ||
                           (error.kind() == ErrorKind::kIo && !IsRefused(error));
    if (!is_damage) throw;
    try {
      Layout layout = FromNames(folder);
      layout.manifest_damage = error.reason();
      return layout;
    } catch (const Error&) {  // no shards: the damage of the manifest says more
      throw error;
    }
  }
}

// First folder that glob() could not read in this thread; its error callback has no context
// argument.
thread_local std::optional<Error> unread_folder;

// Error callback of glob(), which would otherwise silently skip folders that it cannot read.
int StopAtUnread(const char* folder, int error_number) {
  if (error_number == ENOENT || error_number == ENOTDIR) return 0;
  unread_folder = SystemError("cannot list", folder, error_number);
  return 1;
}

std::vector<std::string> ShellGlob(const std::string& pattern) {
  glob_t found = {};
  const int result = ::glob(pattern.c_str(), GLOB_BRACE | GLOB_TILDE, &StopAtUnread, &found);
  std::vector<std::string> paths;
  if (result == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (unread_folder) throw *std::exchange(unread_folder, std::nullopt);
  return paths;
}

std::vector<std::string> Glob(const std::string& pattern) {
  // glob() does not support ranges of numbers.
  const bool range = pattern.find("..") != pattern.npos && pattern.find('{') != pattern.npos;
  const bool expand = range || remote::IsUrl(pattern);
  std::vector<std::string> paths = expand ? ExpandPathPattern(pattern) : ShellGlob(pattern);
  std::erase_if(paths, [](const auto& path) { return IsSideFile(ShardName(path)); });
  return paths;
}

// Tells whether a URL names several shards: by a glob, which needs a listing, or by braces.
bool IsPatternOfUrl(const std::string& url) {
  const std::string_view path = remote::WithoutQuery(url);
  return path.find('{') != path.npos ||
         (!remote::IsWebUrl(url) && path.find_first_of("*?[") != path.npos);
}

// Expands a pattern of a URL; empty if it is one object's or folder's name as it stands.
std::vector<std::string> GlobOfUrl(const std::string& url) {
  const auto is_name = [&] {
    FileSystem& files = remote::DataFiles();
    return files.Exists(url) || files.Exists(url + "/" + kManifestName);
  };
  try {
    std::vector<std::string> paths = Glob(url);
    if (!paths.empty() || is_name()) return paths;
  } catch (const Error&) {
    if (!is_name()) throw;
    return {};
  }
  throw Error(ErrorKind::kNotFound, "matches no shard", {.path = remote::WithoutSecrets(url)},
              "name shards, not what is beside them");
}

// Finds shards at a URL: a folder that has a manifest, a manifest, a shard, a pattern of shards,
// or, where the store lists its objects, a folder of shards.
Layout FindAtUrl(std::string path, Layout (*from_manifest)(const std::string& folder)) {
  const bool has_key = !remote::ParseUrl(path).path.empty();
  path = remote::WithoutLastSlash(std::move(path));
  const std::string manifest = std::string("/") + kManifestName;
  if (path.ends_with(manifest)) return from_manifest(path.substr(0, path.size() - manifest.size()));
  if (IsPatternOfUrl(path)) {
    auto paths = GlobOfUrl(path);
    if (!paths.empty()) return GroupBySplit(std::move(paths), "");
  }
  if (HasShardName(ShardName(path))) return GroupBySplit({path}, "");
  // A presigned URL is that of one object.
  const bool may_be_folder = remote::WithoutQuery(path).size() == path.size();
  if (may_be_folder && remote::DataFiles().Exists(path + manifest)) return from_manifest(path);
  if (!may_be_folder) return GroupBySplit({path}, "");
  std::vector<std::string> paths;
  for (const remote::ListedObject& object : remote::ListFolder(path)) {
    if (HasShardName(object.name())) paths.push_back(object.url);
  }
  if (!paths.empty()) return GroupBySplit(std::move(paths), path);
  // A shard may have any name.
  if (has_key && remote::DataFiles().Exists(path)) return GroupBySplit({path}, "");
  throw Error(ErrorKind::kNotFound, "holds neither a manifest.json nor a TFRecord file",
              {.path = remote::WithoutSecrets(path)},
              "name a folder of shards, a shard, or a pattern in quotes");
}

Layout Find(const std::string& path, Layout (*from_manifest)(const std::string& folder)) {
  if (remote::IsUrl(path)) return FindAtUrl(path, from_manifest);
  const fs::path given(path);
  const fs::file_status there = FileStatus(path);
  if (fs::is_directory(there)) {
    const std::string folder = given.has_filename() ? path : given.parent_path().string();
    const bool has_manifest = fs::exists(FileStatus(folder + "/" + kManifestName));
    return has_manifest ? from_manifest(folder) : FromNames(folder);
  }
  if (given.filename() == kManifestName && fs::exists(there)) {
    return from_manifest(given.has_parent_path() ? given.parent_path().string() : ".");
  }
  std::vector<std::string> paths = fs::exists(there) ? std::vector{path} : Glob(path);
  if (paths.empty()) {
    throw Error(ErrorKind::kNotFound, "no such file, folder or pattern", {.path = path},
                "name a folder of shards, a shard, or a pattern in quotes");
  }
  return GroupBySplit(std::move(paths), "");
}

}  // namespace

Layout FindLayout(const std::string& path) { return Find(path, &FromManifest); }

Layout FindDamagedLayout(const std::string& path) { return Find(path, &FromDamagedManifest); }

Layout JoinLayouts(std::vector<Layout> layouts) {
  if (layouts.size() == 1) return std::move(layouts.front());
  std::map<std::string, LayoutSplit> splits;
  PathsOnce paths;
  Layout joined;
  std::vector<std::string> unlisted;  // names of files in no manifest
  for (const Layout& layout : layouts) {
    for (const LayoutSplit& split : layout.splits) {
      LayoutSplit& into = splits[split.name];
      into.name = split.name;
      for (size_t i = 0; i < split.shards.size(); ++i) {
        const std::string shard = split.shards[i];
        paths.AddOrThrow(shard, "shard");
        into.shards.push_back(shard);
        into.listed.push_back(split.ListedAt(i).value_or(kUnlisted));
        if (!layout.manifest) unlisted.push_back(ShardName(shard));
      }
    }
  }
  if (auto unclear = UnclearSplits(unlisted)) joined.notices.push_back(std::move(*unclear));
  for (auto& [name, split] : splits) joined.splits.push_back(std::move(split));
  return joined;
}

std::vector<std::string> CommonClassNames(const std::vector<Layout>& layouts,
                                          const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (size_t i = 0; i < layouts.size(); ++i) {
    if (!layouts[i].manifest || layouts[i].manifest->class_names.empty()) continue;
    const auto& own = layouts[i].manifest->class_names;
    if (!names.empty() && own != names) {
      throw Error(ErrorKind::kInvalidArgument,
                  "has other class names than the data sets listed before it", {.path = paths[i]},
                  "pack them together, so that a label means the same in all");
    }
    names = own;
  }
  return names;
}

uint64_t ShardBytes(const LayoutSplit& split) {
  uint64_t bytes = 0;
  for (const auto& path : split.shards) {
    bytes += remote::FileBytes(path).value_or(0);
  }
  return bytes;
}

Layout OnlySplit(Layout layout, const std::string& split) {
  const std::string names = JoinNames(layout.splits, &LayoutSplit::name);
  std::erase_if(layout.splits, [&](const LayoutSplit& there) { return there.name != split; });
  if (layout.splits.empty()) {
    throw Error(ErrorKind::kNotFound, format("there is no split '{}'", split),
                {.path = layout.folder}, "choose one of: " + names);
  }
  return layout;
}

void RefuseUnlisted(const std::string& path, const ListedShard& found, const ListedShard& listed) {
  if (found == listed) return;
  const std::string reason =
      found.bytes != listed.bytes
          ? format("has {} bytes, its manifest says {}", found.bytes, listed.bytes)
          : format("has {} records, its manifest says {}", found.records, listed.records);
  throw Error(ErrorKind::kCorrupt, reason, {.path = path},
              "copy the shard again; if there is no other copy, recpack repair saves its whole "
              "records to another folder");
}

}  // namespace recpack
