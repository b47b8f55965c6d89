#include "src/shards/layout/named_shards.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/record/index.h"
#include "src/remote/store/local_copy.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;

// Counts how often each file is listed.
std::map<std::string, int> CountNames(const Layout& layout) {
  std::map<std::string, int> named;
  for (const LayoutSplit& split : layout.splits) {
    for (const std::string shard : split.shards) ++named[shard];
  }
  return named;
}

// Returns the sizes of files in the folder that the manifest does not list, by path.
std::map<std::string, uint64_t> FilesNotNamed(const std::string& folder,
                                              const std::map<std::string, int>& named) {
  std::map<std::string, uint64_t> files;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    const std::string path = folder + "/" + entry.path().filename().string();
    std::error_code code;
    if (entry.is_regular_file(code) && !named.contains(path)) files[path] = entry.file_size();
  }
  return files;
}

std::optional<Index> OpenIndex(const LayoutSplit& split) {
  std::error_code code;
  if (split.index.empty() || !fs::exists(split.index, code)) return {};
  try {
    Index index = Index::Open(remote::LocalCopy(split.index));
    if (index.shard_count() == split.shards.size()) return index;
  } catch (const Error&) {  // match by size only
  }
  return {};
}

class Finder {
 public:
  explicit Finder(Layout& layout)
      : layout_(layout), named_(CountNames(layout)), files_(FilesNotNamed(layout.folder, named_)) {}

  std::vector<Misnamed> Run() {
    for (LayoutSplit& split : layout_.splits) FindIn(split);
    return std::move(misnamed_);
  }

 private:
  void FindIn(LayoutSplit& split) {
    const std::optional<Index> index = OpenIndex(split);
    std::vector<std::string> paths;
    for (size_t i = 0; i < split.shards.size(); ++i) {
      std::string path = split.shards[i];
      const bool is_twice = named_[path] > 1;
      std::error_code code;
      if (is_twice || !fs::exists(path, code)) {
        std::optional<std::string> found = index ? ByIndex(*index, i, path) : std::nullopt;
        if (!found && !(index && is_twice)) found = BySize(split, i);
        if (found) {
          misnamed_.push_back({.listed = path, .found = *found});
          --named_[path];
          files_.erase(*found);
          path = *found;
        }
      }
      paths.push_back(std::move(path));
    }
    split.shards = NameList(paths);
  }

  // Also returns nullopt if the name is the one in the index.
  std::optional<std::string> ByIndex(const Index& index, size_t i, const std::string& path) const {
    std::string indexed = layout_.folder + "/" + std::string(index.shard_name(i));
    if (indexed == path || !files_.contains(indexed)) return {};
    return indexed;
  }

  std::optional<std::string> BySize(const LayoutSplit& split, size_t i) const {
    const auto listed = split.ListedAt(i);
    if (!listed) return {};
    const auto fits = [&](const auto& file) { return file.second == listed->bytes; };
    if (std::ranges::count_if(files_, fits) != 1) return {};
    return std::ranges::find_if(files_, fits)->first;
  }

  Layout& layout_;
  std::map<std::string, int> named_;
  std::map<std::string, uint64_t> files_;  // files not listed yet, with their sizes
  std::vector<Misnamed> misnamed_;
};

}  // namespace

std::vector<Misnamed> FindMisnamedShards(Layout& layout) {
  if (!layout.manifest || layout.folder.empty()) return {};
  return Finder(layout).Run();
}

}  // namespace recpack
