#include "src/shards/index/build_index.h"

#include <filesystem>
#include <mutex>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/folders.h"
#include "recpack/base/temporaries.h"
#include "src/base/format.h"
#include "src/remote/store/data_files.h"
#include "src/remote/store/upload.h"
#include "src/remote/url/url.h"
#include "src/shards/index/index_split.h"
#include "src/shards/layout/split_folders.h"

namespace recpack {
namespace {

class Progress {
 public:
  explicit Progress(const BuildIndexOptions& options) : options_(options) {}
  void Add(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    bytes_ += bytes;
    if (options_.progress) options_.progress(bytes_);
  }

 private:
  const BuildIndexOptions& options_;
  std::mutex mutex_;
  uint64_t bytes_ = 0;
};

// A pattern or a single shard may name a part of a split, but the index must cover all of it.
void RefusePartOfSplit(const LayoutSplit& part) {
  const std::string folder = FolderPath(part.index).empty() ? "." : FolderPath(part.index);
  if (!remote::DataFiles().Exists(folder + "/" + kManifestName)) return;
  const std::string file = std::filesystem::path(part.index).filename();
  for (const auto& split : ReadManifest(remote::DataFiles(), folder).splits) {
    if (split.index != file || split.shards.size() == part.shards.size()) continue;
    throw Error(ErrorKind::kInvalidArgument,
                format("is the index of all {} shards of the split, but {} are given",
                       split.shards.size(), part.shards.size()),
                {.path = part.index}, format("index {}, or use --out", folder));
  }
}

// Writes an index to its path, or to a store.
BuiltIndex Build(const LayoutSplit& part, const BuildIndexOptions& options, Progress& progress) {
  const auto done = [&](uint64_t bytes) { progress.Add(bytes); };
  if (!remote::IsUrl(part.index)) return IndexSplit(part, part.index, options, done);
  const ScratchFolder scratch;
  BuiltIndex built = IndexSplit(part, scratch / "split.recindex", options, done);
  remote::WriteObject(part.index, MappedFile(built.path).bytes());
  built.path = part.index;
  return built;
}

// Refuses web servers before all shards are read.
void CheckWritable(const std::vector<LayoutSplit>& parts) {
  for (const LayoutSplit& part : parts) {
    if (!remote::IsWebUrl(part.index)) continue;
    throw Error(ErrorKind::kUnsupported, "a web server takes no index",
                {.path = remote::WithoutSecrets(part.index)},
                "name a folder with --out; readers make an index themselves, and keep it");
  }
}

// Returns the splits, one per folder, with the paths of the indexes to write.
std::vector<LayoutSplit> BesideTheirShards(const Layout& layout) {
  std::vector<LayoutSplit> parts;
  for (const auto& split : layout.splits) {
    std::vector<LayoutSplit> by_folder = ByFolder(split);
    if (by_folder.size() == 1 && !split.index.empty()) by_folder[0].index = split.index;
    for (auto& part : by_folder) {
      if (!layout.manifest) RefusePartOfSplit(part);
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

std::vector<LayoutSplit> InFolder(const std::string& out, const Layout& layout) {
  std::vector<LayoutSplit> splits;
  for (LayoutSplit split : layout.splits) {
    if (split.shards.empty()) continue;
    if (!LieTogether(split.shards)) {
      throw Error(ErrorKind::kInvalidArgument,
                  format("the shards of the split {} are in several folders, and an index stores "
                         "file names only",
                         split.name),
                  {.path = out}, "leave out --out, or index folder by folder");
    }
    split.index = out + "/" + split.name + ".recindex";
    splits.push_back(std::move(split));
  }
  return splits;
}

}  // namespace

std::vector<BuiltIndex> BuildIndexes(const Layout& layout, const BuildIndexOptions& options) {
  const std::vector<LayoutSplit> parts =
      options.out.empty() ? BesideTheirShards(layout) : InFolder(options.out, layout);
  CheckWritable(parts);
  if (!options.out.empty() && !remote::IsUrl(options.out)) MakeFolder(options.out);
  Progress progress(options);
  std::vector<BuiltIndex> built;
  built.reserve(parts.size());
  for (const auto& part : parts) built.push_back(Build(part, options, progress));
  return built;
}

}  // namespace recpack
