#include "src/pack/plan/unfinished.h"

#include <algorithm>
#include <map>
#include <set>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/record/index.h"
#include "src/base/format.h"
#include "src/base/parse_units.h"
#include "src/pack/plan/plan.h"
#include "src/remote/store/data_files.h"
#include "src/remote/url/url.h"
#include "src/shards/layout/split_names.h"
#include "src/shards/manifest/sidecar.h"

namespace recpack::pack {

std::string UnfinishedPack::Reason() const {
  return format(
      "plans {} shards, of which {} are missing: the pack was not finished; run the same "
      "`recpack pack` again",
      planned, missing);
}

std::optional<UnfinishedPack> FindUnfinished(const Layout& layout) {
  const std::string path = layout.folder + "/" + kStateFolder + "/plan.json";
  if (layout.manifest || layout.folder.empty() || !PosixFiles().Exists(path)) return {};
  const NameList planned = ReadPlan(PosixFiles(), path).shards.files();
  const auto missing = std::ranges::count_if(planned, [&](const std::string& file) {
    return !PosixFiles().Exists(layout.folder + "/" + file);
  });
  if (missing == 0) return {};
  return UnfinishedPack{
      .plan = path, .planned = planned.size(), .missing = static_cast<uint64_t>(missing)};
}

std::optional<uint32_t> TasksBegun(const std::string& out) {
  FileSystem& files = remote::DataFiles();
  const std::string path = remote::WithoutLastSlash(out) + "/" + kStateFolder + "/plan.json";
  if (!files.Exists(path)) return {};
  const Plan plan = ReadPlan(files, path);
  const auto tasks = plan.settings.find("tasks");
  const auto number = tasks == plan.settings.end() ? std::nullopt : WholeNumber(tasks->second);
  if (!number) return {};
  return static_cast<uint32_t>(*number);
}

namespace {

// Finds gaps in the numbers of the shard names.
MissingShards MissingByNames(const LayoutSplit& split) {
  struct Numbering {
    uint64_t count = 0;
    std::set<uint64_t> there;
  };
  std::map<std::string, Numbering> numberings;
  for (const std::string shard : split.shards) {
    const auto name = ParseNumberedName(shard.substr(shard.rfind('/') + 1));
    if (!name) continue;
    Numbering& numbering = numberings[name->siblings];
    numbering.count = name->count;
    numbering.there.insert(name->number);
  }
  MissingShards found{.split = split.name, .by_names = true};
  for (const auto& [siblings, numbering] : numberings) {
    found.all += numbering.count;
    found.missing += numbering.count - std::min<uint64_t>(numbering.count, numbering.there.size());
  }
  return found;
}

// Finds shards that the index lists and that are not in its folder; nullopt without a valid index.
std::optional<MissingShards> MissingByIndex(const LayoutSplit& split) {
  if (split.index.empty() || !PosixFiles().Exists(split.index)) return {};
  try {
    const Index index = Index::Open(split.index);
    const std::string folder = split.index.substr(0, split.index.rfind('/') + 1);
    MissingShards found{.split = split.name, .all = index.shard_count()};
    for (size_t i = 0; i < index.shard_count(); ++i) {
      if (!PosixFiles().Exists(folder + std::string(index.shard_name(i)))) ++found.missing;
    }
    return found;
  } catch (const Error&) {  // ignore a damaged index
    return {};
  }
}

}  // namespace

std::string MissingShards::Reason() const {
  return format("the split {} has {} shards according to {}, of which {} are missing", split, all,
                by_names ? "their names" : "its index", missing);
}

std::optional<MissingShards> FindMissingShards(const Layout& layout) {
  if (layout.manifest || layout.folder.empty()) return {};
  for (const LayoutSplit& split : layout.splits) {
    // An index of some shards only means that this part is the data set.
    std::optional<MissingShards> found = MissingByIndex(split);
    if (!found) found = MissingByNames(split);
    if (found->missing > 0) return found;
  }
  return {};
}

Layout FindFinishedLayout(const std::string& path, bool is_all) {
  Layout layout = FindLayout(path);
  const auto unfinished = FindUnfinished(layout);
  const auto missing = unfinished || !is_all ? std::nullopt : FindMissingShards(layout);
  if (missing) {
    throw Error(ErrorKind::kNotFound, missing->Reason(), {.path = layout.folder},
                format("copy them again; or, to use the shards that are there, name them, such as "
                       "'{}/*.tfrecord'",
                       layout.folder));
  }
  if (!unfinished) return layout;
  throw Error(ErrorKind::kNotFound,
              format("holds an unfinished pack: {} of {} planned shards are missing",
                     unfinished->missing, unfinished->planned),
              {.path = layout.folder},
              format("run the same `recpack pack` again; or, to use the shards that are there, "
                     "name them, such as '{}/*.tfrecord'",
                     layout.folder));
}

}  // namespace recpack::pack
