#include "recpack/dataset/build_index.h"

#include <filesystem>
#include <mutex>

#include "recpack/base/parallel.h"
#include "recpack/record/index.h"
#include "src/dataset/folders.h"
#include "src/dataset/ordered_index.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;

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

std::string IndexPath(const LayoutSplit& split, const BuildIndexOptions& options) {
  const std::string name = split.name + ".recindex";
  if (!options.out.empty()) return options.out + "/" + name;
  if (!split.index.empty()) return split.index;
  return (fs::path(split.shards.front()).parent_path() / name).string();
}

BuiltIndex BuildSplit(const LayoutSplit& split, const BuildIndexOptions& options,
                      Progress& progress) {
  BuiltIndex built{.path = IndexPath(split, options), .shards = split.shards.size()};
  OrderedIndex index(PosixFiles(), built.path);
  ParallelFor(split.shards.size(), options.threads, [&](size_t, size_t i) {
    try {
      const ShardEntries entries = ScanShard(PosixFiles(), split.shards[i], options.verify);
      index.Add(i, entries);
      if (options.dali) {
        const std::string folder =
            options.out.empty() ? fs::path(split.shards[i]).parent_path().string() : options.out;
        WriteFileAtomically(PosixFiles(), fs::path(folder) / (entries.name + ".idx"),
                            AsBytes(DaliIndexText(entries)));
      }
      progress.Add(entries.file_bytes);
    } catch (...) {
      index.GiveUp();
      throw;
    }
  });
  index.Finish(true);
  built.records = Index::Open(built.path).record_count();
  return built;
}

}  // namespace

std::vector<BuiltIndex> BuildIndexes(const Layout& layout, const BuildIndexOptions& options) {
  if (!options.out.empty()) MakeFolder(options.out);
  Progress progress(options);
  std::vector<BuiltIndex> built;
  for (const auto& split : layout.splits) {
    if (!split.shards.empty()) built.push_back(BuildSplit(split, options, progress));
  }
  return built;
}

}  // namespace recpack
