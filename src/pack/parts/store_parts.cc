#include "src/pack/parts/store_parts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"
#include "recpack/base/temporaries.h"
#include "src/base/format.h"
#include "src/pack/store/shared_state.h"
#include "src/remote/store/copy.h"
#include "src/remote/store/data_files.h"
#include "src/remote/store/listing.h"
#include "src/remote/store/upload.h"
#include "src/remote/url/url.h"

namespace recpack::pack {
namespace {

constexpr size_t kMarkSize = 8;
constexpr char kAgain[] = "write the data again";

void RemoveObjects(const std::vector<std::string>& urls) {
  ParallelFor(urls.size(), kPartsAtOnce, [&](size_t, size_t i) { remote::RemoveObject(urls[i]); });
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

}  // namespace

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

void StoreParts::Begin() const {
  const auto there = FindManifest();
  if (there) {
    there->OnlyInItsPlace();  // throws now rather than at the end
    if (!overwrite_) RefuseSplit(Parse(*there), split_, url_);
  } else if (const auto others = remote::ListFolder(url_); !others.empty()) {
    RefuseOtherFiles(others.front().name(), url_);
  }
  remote::Upload(OpenMark()).Finish(remote::Upload::Existing::kReplace);
}

void StoreParts::RefuseEnded() const {
  try {
    const remote::Object mark(OpenMark());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kNotFound) throw;
    RefuseLate(url_);
  }
}

void StoreParts::Add(const std::string& folder, const std::string& name) const {
  const ManifestSplit split = ReadManifest(PosixFiles(), folder).splits.front();
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

void StoreParts::WriteIndex(const JoinedParts& joined) const {
  const ScratchFolder scratch;
  std::vector<std::string> copies(joined.indexes.size());
  ParallelFor(copies.size(), kPartsAtOnce, [&](size_t, size_t i) {
    copies[i] = scratch / std::to_string(i);
    WriteFileAtomically(PosixFiles(), copies[i],
                        ReadWholeFile(remote::DataFiles(), joined.indexes[i]), false);
  });
  const std::string path = scratch / joined.split.index;
  WriteJoinedIndex(joined, copies, path);
  UploadAs(Url(joined.split.index), *PosixFiles().OpenForReading(path));
}

void StoreParts::CopyShards(const JoinedParts& joined) const {
  ParallelFor(joined.from.size(), kPartsAtOnce, [&](size_t, size_t i) {
    const ManifestShard shard = joined.split.shards[i];
    remote::CopyObject(joined.from[i], Url(shard.file), shard.bytes);
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

bool StoreParts::IsListed(const JoinedParts& joined) const {
  const auto there = FindManifest();
  return there && Parse(*there).Lists(joined.split.shards[0].file);
}

void StoreParts::Publish(const std::vector<std::string>& names) const {
  if (names.empty()) return Discard();
  const auto there = FindManifest();
  Manifest old;
  if (there) old = Parse(*there);
  if (!overwrite_) RefuseSplit(old, split_, url_);
  std::vector<std::string> urls;
  for (const std::string& name : names) urls.push_back(PartUrl(name));
  const std::vector<Manifest> manifests = ReadManifests(remote::DataFiles(), urls);
  const JoinedParts joined = JoinParts(split_, split_ + "-" + mark_, urls, manifests);
  try {
    WriteIndex(joined);
    CopyShards(joined);
  } catch (...) {
    RemoveMade(joined);
    throw;
  }
  try {
    WriteManifest(JoinedManifest(there && !overwrite_ ? &old : nullptr, manifests, joined.split),
                  there.get());
  } catch (const Error& error) {
    // The answer may have been lost, and another job may have added to what was written.
    if (!IsListed(joined)) {
      // Otherwise the store may get the manifest yet: what it names stays.
      if (error.kind() == ErrorKind::kInvalidArgument) RemoveMade(joined);
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
  const std::vector<std::string> listed = old.FileNames();
  const std::set<std::string> names(listed.begin(), listed.end());
  std::vector<std::string> urls;
  for (const auto& object : remote::ListFolder(url_)) {
    if (names.contains(object.name())) urls.push_back(object.url);
  }
  RemoveObjects(urls);
  SharedState({}, url_).Remove();
}

void StoreParts::RemoveMade(const JoinedParts& joined) const noexcept {
  try {
    std::vector<std::string> urls = {Url(joined.split.index)};
    for (const std::string& file : joined.split.shards.files()) urls.push_back(Url(file));
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
