#include "src/pack/store/store_append.h"

#include <filesystem>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/file_lock.h"
#include "src/pack/plan/plan.h"
#include "src/pack/store/hole.h"
#include "src/remote/store/local_copy.h"
#include "src/remote/store/upload.h"
#include "src/shards/manifest/manifest.h"

namespace recpack::pack {
namespace {

namespace fs = std::filesystem;

Descriptor LockOrThrow(const SharedState& state) {
  fs::create_directories(state.Path(""));
  auto lock = TryLock(state.Path("lock"));
  if (lock) return std::move(*lock);
  throw Error(ErrorKind::kInvalidArgument, "another recpack is packing into this folder",
              {.path = state.url()}, "wait for it to end");
}

remote::Object OpenManifest(const std::string& url) {
  try {
    return remote::Object(url + "/" + kManifestName);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kNotFound) throw;
    throw Error(ErrorKind::kNotFound, "there is no data set to append to", {.path = url},
                "pack without --append first");
  }
}

// Copies the indexes of the splits into the folder. One that the store lacks is made anew.
void CopyIndexes(const Manifest& manifest, const SharedState& state) {
  for (const ManifestSplit& split : manifest.splits) {
    if (split.index.empty()) continue;
    const std::string path = state.folder() + "/" + split.index;
    const auto copy = remote::FindLocalCopy(state.url() + "/" + split.index);
    fs::remove(path);
    if (copy) fs::copy_file(*copy, path);
  }
}

std::set<std::string> ShardsOf(const std::string& path) {
  std::set<std::string> names;
  const Plan plan = ReadPlan(PosixFiles(), path);
  for (const auto& file : plan.shards.files()) names.insert(file);
  return names;
}

// Makes the files of shards in the folder agree with the store: one that is lost there is packed
// again. What neither a plan nor the manifest names is of another job, and in the way of a plan
// that would give a shard its name.
void CompareShards(const std::string& folder, const Manifest& manifest,
                   const std::set<std::string>& planned,
                   const std::map<std::string, uint64_t>& results) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".tfrecord")) continue;
    const auto found = results.find(name);
    if (found == results.end() || found->second != entry.file_size()) fs::remove(entry.path());
  }
  for (const auto& [name, bytes] : results) {
    if (!name.ends_with(".tfrecord") || manifest.Lists(name) || planned.contains(name)) continue;
    MakeHole(folder + "/" + name, bytes);
  }
}

}  // namespace

StoreAppend::StoreAppend(const SharedState& state, const std::map<std::string, uint64_t>& results)
    : StoreAppend(state, results, LockOrThrow(state)) {}

StoreAppend::StoreAppend(const SharedState& state, const std::map<std::string, uint64_t>& results,
                         const Descriptor& /*lock*/)
    : state_(state), manifest_(OpenManifest(state.url())) {
  manifest_.OnlyInItsPlace();  // throws now rather than at the end
  const auto plans = state.FetchAppends();
  WriteFileAtomically(PosixFiles(), state.folder() + "/" + kManifestName, manifest_.Content(),
                      false);
  const Manifest manifest = ReadManifest(PosixFiles(), state.folder());
  std::set<std::string> planned;
  for (const std::string& plan : plans) {
    std::set<std::string> shards = ShardsOf(state.Path(plan));
    if (!shards.empty() && manifest.Lists(*shards.begin())) {
      fs::remove(OwnMark(plan));
    } else {
      plans_[plan] = remote::Object(state.Url(plan)).version();
    }
    planned.merge(shards);
  }
  CopyIndexes(manifest, state);
  CompareShards(state.folder(), manifest, planned, results);
}

// A file that says that this machine has begun the append: its unfinished uploads may be removed,
// those of an append that another machine makes must not.
std::string StoreAppend::OwnMark(const std::string& plan) const {
  return state_.Path("own-" + plan);
}

void StoreAppend::PublishPlan(const std::string& path, const std::string& name) {
  state_.Publish(path, name, remote::Upload::Existing::kRefuse);
  WriteFileAtomically(PosixFiles(), OwnMark(name), {}, false);
  const std::string version = remote::Object(state_.Url(name)).version();
  const std::lock_guard lock(mutex_);
  plans_[name] = version;
}

void StoreAppend::CheckUnchanged() const {
  const auto check = [](const std::string& url, const std::string& version) {
    try {
      if (remote::Object(url).version() == version) return;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kNotFound) throw;
    }
    throw Error(ErrorKind::kInvalidArgument, "another job changed the data set meanwhile",
                {.path = url}, "give the same command again; what is complete is kept");
  };
  check(manifest_.path(), manifest_.version());
  std::map<std::string, std::string> plans;
  {
    const std::lock_guard lock(mutex_);
    plans = plans_;
  }
  for (const auto& [name, version] : plans) check(state_.Url(name), version);
}

std::set<std::string> StoreAppend::OwnShards() const {
  std::set<std::string> names;
  const std::lock_guard lock(mutex_);
  for (const auto& [plan, version] : plans_) {
    if (!fs::exists(OwnMark(plan)) || !fs::exists(state_.Path(plan))) continue;
    names.merge(ShardsOf(state_.Path(plan)));
  }
  return names;
}

}  // namespace recpack::pack
