#include "recpack/pipeline/dataset.h"

#include <utility>

#include "recpack/base/error.h"
#include "recpack/dataset/layout.h"
#include "src/base/format.h"
#include "src/pipeline/dataset_digest.h"
#include "src/pipeline/record_store.h"

namespace recpack {
namespace {

constexpr char kTrain[] = "train";

LayoutSplit Choose(Layout& layout, const std::string& path, const std::string& wanted) {
  if (!wanted.empty()) return OnlySplit(std::move(layout), wanted).splits.front();
  if (layout.splits.size() == 1) return layout.splits.front();
  std::string names;
  for (const LayoutSplit& split : layout.splits) {
    if (split.name == kTrain) return split;
    names += (names.empty() ? "" : ", ") + split.name;
  }
  throw Error(ErrorKind::kInvalidArgument, "has several splits and none is called train",
              {.path = path}, "name one of: " + names);
}

std::string NameOf(const std::vector<std::string>& paths) {
  if (paths.size() == 1) return paths.front();
  return format("{} and {} more", paths.front(), paths.size() - 1);
}

// Labels of all have to mean the same; what has no manifest has no say.
std::vector<std::string> ClassNames(const std::vector<Layout>& layouts,
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

}  // namespace

Dataset::Dataset(std::string path, std::string split, std::vector<std::string> class_names,
                 std::shared_ptr<const SampleStore> store)
    : path_(std::move(path)),
      split_(std::move(split)),
      class_names_(std::move(class_names)),
      store_(std::move(store)) {
  if (records() == 0) {
    throw Error(ErrorKind::kInvalidArgument, format("the split '{}' has no records", split_),
                {.path = path_});
  }
  digest_ = DigestOf(*store_);
}

Dataset Dataset::Open(const std::string& path, const DatasetOptions& options) {
  return Open(std::vector{path}, options);
}

Dataset Dataset::Open(const std::vector<std::string>& paths, const DatasetOptions& options) {
  if (paths.empty()) {
    throw Error(ErrorKind::kInvalidArgument, "no path of a data set is given", {},
                "name a folder of shards, a shard, or a pattern");
  }
  const std::string name = NameOf(paths);
  std::vector<Layout> layouts;
  for (const std::string& path : paths) layouts.push_back(FindLayout(path));
  std::vector<std::string> class_names = ClassNames(layouts, paths);
  Layout layout = JoinLayouts(std::move(layouts));
  const LayoutSplit split = Choose(layout, name, options.split);
  FileSystem& files = options.files != nullptr ? *options.files : PosixFiles();
  return Dataset(name, split.name, std::move(class_names), OpenRecordStore(split, files));
}

uint64_t Dataset::records() const noexcept { return store_->samples(); }

uint64_t Dataset::bytes() const noexcept { return store_->bytes(); }

std::string Dataset::DifferenceFrom(const std::string& digest) const {
  return DigestDifference(*store_, digest_, digest);
}

std::unique_ptr<SampleSource> Dataset::NewSource(const SourceOptions& options) const {
  return store_->NewSource(options);
}

Place Dataset::PlaceOf(uint64_t ordinal) const { return store_->PlaceOf(ordinal); }

}  // namespace recpack
