#include "recpack/loader/dataset.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "recpack/loader/feature_mapper.h"
#include "src/base/format.h"
#include "src/loader/data/dataset_digest.h"
#include "src/loader/data/item_store.h"
#include "src/loader/data/record_store.h"
#include "src/pack/item/source.h"
#include "src/pack/open/recognise.h"
#include "src/pack/plan/unfinished.h"
#include "src/pack/sources/tar/tar.h"
#include "src/remote/store/data_files.h"
#include "src/remote/url/url.h"
#include "src/shards/index/pick.h"
#include "src/shards/layout/layout.h"

namespace recpack {
namespace {

constexpr char kTrain[] = "train";

// Returns the kind of source; empty for shards. A folder with one of these files is not searched.
std::string RecogniseOthers(const std::string& path) {
  if (remote::IsUrl(path)) return pack::HasTarName(path) ? "tar" : "";
  for (const char* sign : {"/manifest.json", "/.recpack"}) {
    if (PosixFiles().Exists(path + sign)) return {};
  }
  const std::string kind = pack::RecogniseSource(path);
  return kind == "tfrecord" ? "" : kind;
}

// Returns the index of the split to open.
size_t Choose(const std::vector<std::string>& splits, const std::string& path,
              const std::string& wanted) {
  const auto found = std::ranges::find(splits, wanted.empty() ? kTrain : wanted);
  if (found != splits.end()) return static_cast<size_t>(found - splits.begin());
  if (!wanted.empty()) {
    throw Error(ErrorKind::kNotFound, format("there is no split '{}'", wanted), {.path = path},
                "choose one of: " + JoinNames(splits));
  }
  if (splits.size() == 1) return 0;
  throw Error(ErrorKind::kInvalidArgument, "has several splits and none is called train",
              {.path = path}, "name one of: " + JoinNames(splits));
}

// Returns the common kind of source of all paths; empty: shards, or unknown. Throws Error
// (kInvalidArgument, kUnsupported) if there is no path or if kinds differ.
std::string FindKind(const std::vector<std::string>& paths) {
  if (paths.empty()) {
    throw Error(ErrorKind::kInvalidArgument, "no path of a data set is given", {},
                "name a folder of shards, a shard, or a pattern");
  }
  std::string kind = RecogniseOthers(paths.front());
  for (const std::string& path : paths) {
    if (RecogniseOthers(path) == kind) continue;
    throw Error(ErrorKind::kUnsupported,
                format("is not a {}, unlike the first of the list", kind.empty() ? "shard" : kind),
                {.path = path}, "open them one by one and mix them");
  }
  return kind;
}

// Returns notices for the user, if splits were derived from file names only.
std::vector<std::string> MakeNotices(const Layout& layout, const LayoutSplit& taken, bool asked) {
  std::vector<std::string> notices = layout.notices;
  if (layout.manifest || asked || layout.splits.size() < 2) return notices;
  const std::string names = JoinNames(layout.splits, [](const LayoutSplit& split) {
    return format("{} ({})", split.name, split.shards.size());
  });
  notices.push_back(format("splits found by file names (and their number of files): {}; using {}",
                           names, taken.name));
  return notices;
}

std::string MakeName(const std::vector<std::string>& paths) {
  if (paths.size() == 1) return paths.front();
  return format("{} and {} more", paths.front(), paths.size() - 1);
}

// Finds the shards of each path.
std::vector<Layout> FindLayouts(const std::vector<std::string>& paths) {
  std::vector<Layout> layouts;
  layouts.reserve(paths.size());
  for (const std::string& path : paths) {
    layouts.push_back(pack::FindFinishedLayout(path, paths.size() == 1));
  }
  return layouts;
}

// Returns the number of the split's records, from the manifests or else from an index.
uint64_t CountRecords(const LayoutSplit& split) {
  uint64_t records = 0;
  for (size_t i = 0; i < split.shards.size(); ++i) {
    const auto listed = split.ListedAt(i);
    if (!listed) return OpenSplitIndex(split).record_count();
    records += listed->records;
  }
  return records;
}

}  // namespace

Dataset::Dataset(std::string path, std::string split, std::vector<std::string> class_names,
                 std::shared_ptr<const SampleStore> store,
                 std::shared_ptr<const FeatureMapper> mapper, std::vector<std::string> notices)
    : path_(std::move(path)),
      split_(std::move(split)),
      class_names_(std::move(class_names)),
      store_(std::move(store)),
      mapper_(std::move(mapper)),
      notices_(std::move(notices)) {
  if (records() == 0) {
    throw Error(ErrorKind::kInvalidArgument, format("the split '{}' has no records", split_),
                {.path = path_});
  }
  digest_ = MakeDigest(*store_);
}

Dataset Dataset::Open(const std::string& path, const DatasetOptions& options) {
  return Open(std::vector{path}, options);
}

Dataset Dataset::Open(const std::vector<std::string>& paths, const DatasetOptions& options) {
  const std::string kind = FindKind(paths);
  const std::string name = MakeName(paths);
  if (!kind.empty()) {
    return OfSource(OpenItems(kind, paths, options), name, options);
  }
  std::vector<Layout> layouts = FindLayouts(paths);
  std::vector<std::string> class_names = CommonClassNames(layouts, paths);
  const Layout layout = JoinLayouts(std::move(layouts));
  std::vector<std::string> splits;
  for (const LayoutSplit& split : layout.splits) splits.push_back(split.name);
  const LayoutSplit& split = layout.splits[Choose(splits, name, options.split)];
  FileSystem& files = options.files != nullptr ? *options.files : remote::DataFiles();
  return Dataset(name, split.name, std::move(class_names), OpenRecordStore(split, files),
                 std::make_shared<FeatureMapper>(options.fields, options.label_offset),
                 MakeNotices(layout, split, !options.split.empty()));
}

bool IsUnpacked(const std::vector<std::string>& paths) { return !FindKind(paths).empty(); }

std::vector<SplitSize> ListSplits(const std::vector<std::string>& paths,
                                  const DatasetOptions& options) {
  std::vector<SplitSize> splits;
  if (const std::string kind = FindKind(paths); !kind.empty()) {
    const auto source = OpenItems(kind, paths, options);
    for (const auto& split : source->splits()) {
      splits.push_back({split.name, split.items});
    }
    return splits;
  }
  std::vector<Layout> layouts = FindLayouts(paths);
  CommonClassNames(layouts, paths);
  const Layout layout = JoinLayouts(std::move(layouts));
  for (const LayoutSplit& split : layout.splits) {
    splits.push_back({split.name, CountRecords(split)});
  }
  return splits;
}

Dataset Dataset::OfSource(std::shared_ptr<const pack::Source> source, const std::string& path,
                          const DatasetOptions& options) {
  std::vector<std::string> splits;
  for (const pack::SourceSplit& split : source->splits()) splits.push_back(split.name);
  const size_t split = Choose(splits, path, options.split);
  // Item names of a folder are relative to it.
  const std::string root = source->kind() == "folder" ? path + "/" : "";
  return Dataset(path, splits[split], source->class_names(), MakeItemStore(source, split, root),
                 std::make_shared<FeatureMapper>(FieldMap(), options.label_offset), {});
}

uint64_t Dataset::records() const noexcept { return store_->samples(); }

uint64_t Dataset::bytes() const noexcept { return store_->bytes(); }

std::string Dataset::DifferenceFrom(const std::string& digest) const {
  return DigestDifference(*store_, digest_, digest);
}

std::unique_ptr<SampleSource> Dataset::NewSource(const RandomAccessOptions& options) const {
  return store_->NewSource(options);
}

void Dataset::MapFeatures(ExampleView& example) const { mapper_->Apply(example); }

std::vector<std::string> Dataset::Notices() const {
  std::vector<std::string> notices = notices_;
  std::ranges::copy(store_->Notices(), std::back_inserter(notices));
  return notices;
}

Place Dataset::FindPlace(uint64_t ordinal) const { return store_->FindPlace(ordinal); }

}  // namespace recpack
