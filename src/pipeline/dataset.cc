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
  Layout layout = FindLayout(path);
  std::vector<std::string> class_names;
  if (layout.manifest) class_names = layout.manifest->class_names;
  const LayoutSplit split = Choose(layout, path, options.split);
  return Dataset(path, split.name, std::move(class_names),
                 OpenRecordStore(split, path, options.files ? *options.files : PosixFiles()));
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
