#include "src/pack/store/store_append.h"

#include <filesystem>
#include <set>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/file_lock.h"
#include "src/pack/plan/plan.h"
#include "src/pack/store/hole.h"
#include "src/remote/store/local_copy.h"
#include "src/shards/manifest/manifest.h"
#include "src/shards/manifest/sidecar.h"

namespace recpack::pack {
namespace {

namespace fs = std::filesystem;

remote::Object OpenManifest(const std::string& url) {
  try {
    return remote::Object(url + "/" + kManifestName);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kNotFound) throw;
    throw Error(ErrorKind::kNotFound, "there is no data set to append to", {.path = url},
                "pack without --append first");
  }
}

ByteBuffer Content(const remote::Object& object) {
  ByteBuffer content(object.size());
  if (!content.empty()) object.Fetch(0, content);
  return content;
}

// Copies the indexes of the splits into the folder. One that the store lacks is made anew.
void CopyIndexes(const Manifest& manifest, const std::string& folder, const std::string& url) {
  for (const ManifestSplit& split : manifest.splits) {
    const std::string path = folder + "/" + split.index;
    const auto copy = remote::FindLocalCopy(url + "/" + split.index);
    fs::remove(path);
    if (copy) fs::copy_file(*copy, path);
  }
}

// Names of all shards that an append has made or will make.
std::set<std::string> PlannedShardsOf(const std::map<std::string, std::string>& plans) {
  std::set<std::string> names;
  for (const auto& [name, path] : plans) {
    const Plan plan = ReadPlan(PosixFiles(), path);
    for (const auto& file : plan.shards.files()) names.insert(file);
  }
  return names;
}

// Makes the files of shards in the folder agree with the store: one that is lost there is packed
// again. What nobody's plan and no manifest names is of another job, and in the way of a plan that
// would give a shard its name.
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
    : manifest_(OpenManifest(state.url())) {
  const std::string& folder = state.folder();
  fs::create_directories(folder + "/" + kStateFolder);
  const auto alone = TryLock(folder + "/" + kStateFolder + "/lock");
  if (!alone) {
    throw Error(ErrorKind::kInvalidArgument, "another recpack is packing into this folder",
                {.path = state.url()}, "wait for it to end");
  }
  const auto plans = state.FetchAppends();
  WriteFileAtomically(PosixFiles(), folder + "/" + kManifestName, Content(manifest_), false);
  const Manifest manifest = ReadManifest(PosixFiles(), folder);
  CopyIndexes(manifest, folder, state.url());
  CompareShards(folder, manifest, PlannedShardsOf(plans), results);
}

void StoreAppend::CheckUnchanged() const {
  if (remote::Object(manifest_.path()).version() == manifest_.version()) return;
  throw Error(ErrorKind::kInvalidArgument, "another job changed the data set meanwhile",
              {.path = manifest_.path()}, "give the same command again; what is complete is kept");
}

}  // namespace recpack::pack
