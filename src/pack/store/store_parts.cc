#include "src/pack/store/store_parts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"
#include "recpack/base/temporaries.h"
#include "recpack/record/index.h"
#include "src/base/format.h"
#include "src/pack/store/shared_state.h"
#include "src/remote/store/copy.h"
#include "src/remote/store/data_files.h"
#include "src/remote/store/listing.h"
#include "src/remote/store/upload.h"
#include "src/remote/url/url.h"
#include "src/shards/index/ordered_index.h"
#include "src/shards/manifest/manifest_schema.h"
#include "src/shards/manifest/shard_name.h"

namespace recpack::pack {
namespace {

constexpr int kRequestsAtOnce = 16;  // requests that wait for the store
constexpr size_t kMarkSize = 8;
constexpr char kAgain[] = "write the data again";

void RemoveObjects(const std::vector<std::string>& urls) {
  ParallelFor(urls.size(), kRequestsAtOnce,
              [&](size_t, size_t i) { remote::RemoveObject(urls[i]); });
}

void UploadAs(const std::string& url, const ReadableFile& file) {
  remote::Upload upload(url);
  remote::WriteFile(file, upload);
  upload.Finish(remote::Upload::Existing::kReplace);
}

Manifest Parse(const remote::Object& object) {
  const ByteBuffer content = object.Content();
  return ManifestFromJson({content.begin(), content.end()}, object.path());
}

const ManifestSplit& OnlySplit(const Manifest& part) { return part.splits.front(); }

}  // namespace

// What Publish() makes of the parts.
struct StoreParts::Made {
  ManifestSplit split;               // with the names that the shards get
  std::vector<std::string> from;     // URLs of the shards that they are copied from
  std::vector<size_t> first;         // number of the first shard of each part
  std::vector<size_t> counts;        // shards of each part
  std::vector<std::string> indexes;  // of the parts
};

StoreParts::StoreParts(const std::string& url, std::string split, std::string job, bool overwrite)
    : url_(remote::WithoutLastSlash(url)),
      split_(std::move(split)),
      mark_(job.substr(0, kMarkSize)),
      parts_(url_ + "/.parts-" + job),
      overwrite_(overwrite) {
  remote::CheckWritable(remote::ParseUrl(url_));
}

std::unique_ptr<const remote::Object> StoreParts::FindManifest() const {
  try {
    return std::make_unique<const remote::Object>(Url(kManifestName));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kNotFound) return nullptr;
    throw;
  }
}

void StoreParts::RefuseSplit(const Manifest& there) const {
  if (overwrite_ || there.FindSplit(split_) == nullptr) return;
  throw Error(ErrorKind::kInvalidArgument, format("has a split '{}'", split_), {.path = url_},
              "name another split or folder, or overwrite the data set");
}

void StoreParts::Begin() const {
  const auto there = FindManifest();
  if (there) {
    there->OnlyInItsPlace();  // throws now rather than at the end
    RefuseSplit(Parse(*there));
  } else if (const auto others = remote::ListFolder(url_); !others.empty()) {
    throw Error(ErrorKind::kInvalidArgument, format("has other files ({})", others.front().name()),
                {.path = url_}, "name another folder");
  }
  remote::Upload(OpenMark()).Finish(remote::Upload::Existing::kReplace);
}

void StoreParts::RefuseEnded() const {
  try {
    const remote::Object mark(OpenMark());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kNotFound) throw;
    throw Error(ErrorKind::kNotFound, "this job has ended, and the attempt came too late",
                {.path = url_}, "nothing is to be done: it does not count");
  }
}

void StoreParts::Add(const std::string& folder, const std::string& name) const {
  const ManifestSplit split = OnlySplit(ReadManifest(PosixFiles(), folder));
  std::vector<std::string> urls;
  const auto upload = [&](const std::string& file) {
    urls.push_back(PartUrl(name) + "/" + file);
    UploadAs(urls.back(), *PosixFiles().OpenForReading(folder + "/" + file));
  };
  try {
    for (const ManifestShard& shard : split.shards) upload(shard.file);
    upload(split.index);
    upload(kManifestName);
    RefuseEnded();
  } catch (...) {
    try {
      RemoveObjects(urls);
    } catch (...) {  // NOLINT(bugprone-empty-catch): the first error tells more
    }
    throw;
  }
}

std::vector<Manifest> StoreParts::ReadManifests(const std::vector<std::string>& names) const {
  std::vector<Manifest> parts(names.size());
  ParallelFor(names.size(), kRequestsAtOnce, [&](size_t, size_t i) {
    parts[i] = ReadManifest(remote::DataFiles(), PartUrl(names[i]));
  });
  return parts;
}

StoreParts::Made StoreParts::Join(const std::vector<std::string>& names,
                                  const std::vector<Manifest>& parts) const {
  const std::string name = split_ + "-" + mark_;
  Made made{
      .split = {.name = split_, .index = name + ".recindex", .shards = {}, .class_counts = {}},
      .from = {},
      .first = {},
      .indexes = {}};
  size_t count = 0;
  for (const Manifest& part : parts) count += OnlySplit(part).shards.size();
  for (size_t i = 0; i < parts.size(); ++i) {
    const ManifestSplit& part = OnlySplit(parts[i]);
    made.first.push_back(made.from.size());
    made.counts.push_back(part.shards.size());
    made.indexes.push_back(part.index);
    for (ManifestShard shard : part.shards) {
      made.from.push_back(PartUrl(names[i]) + "/" + shard.file);
      shard.file = ShardName(name, 0, made.split.shards.size(), count);
      made.split.shards.push_back(shard);
    }
    for (const auto& [label, records] : part.class_counts) {
      made.split.class_counts[label] += records;
    }
  }
  return made;
}

void StoreParts::WriteIndex(const std::vector<std::string>& names, const Made& made) const {
  const ScratchFolder scratch;
  const std::string path = scratch / made.split.index;
  OrderedIndex index(PosixFiles(), path);
  ParallelFor(names.size(), kRequestsAtOnce, [&](size_t, size_t i) {
    try {
      const TemporaryFile copy(scratch / names[i]);
      WriteFileAtomically(
          PosixFiles(), copy.path(),
          ReadWholeFile(remote::DataFiles(), PartUrl(names[i]) + "/" + made.indexes[i]), false);
      const Index part = Index::Open(copy.path());
      if (part.shard_count() != made.counts[i]) {
        throw Error(ErrorKind::kCorrupt, "has other shards than the part's manifest",
                    {.path = PartUrl(names[i]) + "/" + made.indexes[i]}, kAgain);
      }
      for (size_t shard = 0; shard < part.shard_count(); ++shard) {
        ShardEntries entries = part.Entries(shard);
        entries.name = made.split.shards.files()[made.first[i] + shard];
        index.Add(made.first[i] + shard, entries);
      }
    } catch (...) {
      index.GiveUp();
      throw;
    }
  });
  index.Finish(false);
  UploadAs(Url(made.split.index), *PosixFiles().OpenForReading(path));
}

void StoreParts::CopyShards(const Made& made) const {
  ParallelFor(made.from.size(), kRequestsAtOnce, [&](size_t, size_t i) {
    const ManifestShard shard = made.split.shards[i];
    remote::CopyObject(made.from[i], Url(shard.file), shard.bytes);
  });
}

void StoreParts::WriteManifest(const Manifest& manifest, const remote::Object* there) const {
  remote::Upload upload(Url(kManifestName), remote::Upload::Kind::kWhole);
  upload.Write(AsBytes(ManifestToJson(manifest)));
  if (there != nullptr) {
    upload.FinishInPlaceOf(*there, kAgain);
  } else {
    upload.Finish(remote::Upload::Existing::kRefuse, kAgain);
  }
}

bool StoreParts::IsListed(const Made& made) const {
  const auto there = FindManifest();
  return there && Parse(*there).Lists(made.split.shards[0].file);
}

void StoreParts::Publish(const std::vector<std::string>& names) const {
  if (names.empty()) return Discard();
  const auto there = FindManifest();
  Manifest old;
  if (there) old = Parse(*there);
  RefuseSplit(old);
  const std::vector<Manifest> parts = ReadManifests(names);
  const Made made = Join(names, parts);
  Manifest whole = there && !overwrite_ ? old : parts.front();
  if (!there || overwrite_) whole.splits.clear();
  whole.splits.push_back(made.split);
  for (const Manifest& part : parts) MergeSchema(part.schema, whole.schema);
  try {
    WriteIndex(names, made);
    CopyShards(made);
  } catch (...) {
    RemoveMade(made);
    throw;
  }
  try {
    WriteManifest(whole, there.get());
  } catch (const Error& error) {
    // The answer may have been lost, and another job may have added to what was written.
    if (!IsListed(made)) {
      // Otherwise the store may get the manifest yet: what it names stays.
      if (error.kind() == ErrorKind::kInvalidArgument) RemoveMade(made);
      throw;
    }
  }
  try {
    if (overwrite_) RemoveOld(old);
    Discard();
  } catch (
      ...) {  // NOLINT(bugprone-empty-catch): the data set is complete, and what is left no part
  }
}

// Last: until now readers had the old data set, and it would have stayed. Objects that it does not
// list may be those of another job.
void StoreParts::RemoveOld(const Manifest& old) const {
  std::set<std::string> names;
  for (const ManifestSplit& split : old.splits) {
    names.insert(split.index);
    for (const std::string& file : split.shards.files()) names.insert({file, file + ".idx"});
  }
  for (const ManifestFile& file : old.files) names.insert(file.file);
  std::vector<std::string> urls;
  for (const auto& object : remote::ListFolder(url_)) {
    if (names.contains(object.name())) urls.push_back(object.url);
  }
  RemoveObjects(urls);
  SharedState({}, url_).Remove();
}

void StoreParts::RemoveMade(const Made& made) const noexcept {
  try {
    std::vector<std::string> urls = {Url(made.split.index)};
    for (const std::string& file : made.split.shards.files()) urls.push_back(Url(file));
    RemoveObjects(urls);
  } catch (...) {  // NOLINT(bugprone-empty-catch): no manifest names them
  }
}

void StoreParts::Discard() const {
  remote::RemoveObject(OpenMark());  // first: attempts that are still running remove their own
  std::vector<std::string> urls;
  for (const auto& object : remote::ListBelow(parts_)) urls.push_back(object.url);
  RemoveObjects(urls);
  remote::RemoveUploads(parts_, [](const std::string&) { return true; });
}

}  // namespace recpack::pack
