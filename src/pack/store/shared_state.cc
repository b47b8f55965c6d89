#include "src/pack/store/shared_state.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/file_lock.h"
#include "recpack/base/parallel.h"
#include "src/pack/plan/plan_name.h"
#include "src/pack/store/hole.h"
#include "src/remote/store/data_files.h"
#include "src/remote/store/listing.h"
#include "src/shards/manifest/sidecar.h"

namespace recpack::pack {
namespace {

namespace fs = std::filesystem;

constexpr int kAtOnce = 16;  // requests for small objects

const std::string& JobsPlan() {
  static const std::string name = PlanName(0);
  return name;
}

std::string SidecarName(const std::string& shard) { return shard + ".json"; }
std::string IndexPartName(const std::string& shard) { return shard + ".recindex"; }

}  // namespace

SharedState::SharedState(std::string folder, std::string url)
    : folder_(std::move(folder)), url_(std::move(url)) {}

std::string SharedState::Url(const std::string& name) const {
  return url_ + "/" + kStateFolder + "/" + name;
}

std::string SharedState::Path(const std::string& name) const {
  return folder_ + "/" + kStateFolder + "/" + name;
}

SharedState::Listing SharedState::List() const {
  Listing listing;
  for (const auto& object : remote::ListFolder(url_)) {
    listing.results[object.name()] = object.bytes;
  }
  for (const auto& object : remote::ListFolder(url_ + "/" + kStateFolder)) {
    listing.state[object.name()] = object.bytes;
  }
  return listing;
}

void SharedState::Copy(const std::string& name) const {
  const ByteBuffer content = ReadWholeFile(remote::DataFiles(), Url(name));
  WriteFileAtomically(PosixFiles(), Path(name), content, false);
}

void SharedState::Fetch(uint32_t task, uint32_t tasks) {
  fs::create_directories(folder_ + "/" + kStateFolder);
  // Tasks of this machine come one after the other.
  const Descriptor turn = WaitForLock(folder_ + ".lock");
  const Listing listing = List();
  ByteBuffer plan;
  if (listing.state.contains(JobsPlan())) {
    plan = ReadWholeFile(remote::DataFiles(), Url(JobsPlan()));
  }
  if (fs::exists(Path(JobsPlan())) && ReadWholeFile(PosixFiles(), Path(JobsPlan())) != plan) {
    // An earlier job's, unless another task here has a plan that is not in the store yet.
    const auto alone = TryLock(Path("lock"), false);
    if (alone) Clear();
  }
  if (plan.empty()) return;
  WriteFileAtomically(PosixFiles(), Path(JobsPlan()), plan, false);
  FetchShards(ReadPlan(PosixFiles(), Path(JobsPlan())), task, tasks, listing);
}

// Removes all but the locks, which other tasks may wait for.
void SharedState::Clear() const {
  for (const std::string& folder : {folder_, folder_ + "/" + kStateFolder}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const bool lock = entry.path().filename().string().starts_with("lock");
      if (entry.is_regular_file() && !lock) fs::remove(entry.path());
    }
  }
}

void SharedState::FetchAll() {
  const Listing listing = List();
  const Plan plan = ReadPlan(PosixFiles(), Path(JobsPlan()));
  for (const auto& file : plan.shards.files()) {
    if (!listing.state.contains(SidecarName(file))) return;
  }
  FetchShards(plan, 0, 1, listing);
}

void SharedState::FetchShards(const Plan& plan, uint32_t task, uint32_t tasks,
                              const Listing& listing) const {
  std::vector<std::string> missing;
  for (size_t i = task; i < plan.shards.size(); i += tasks) {
    const std::string file = plan.shards.files()[i];
    // The sidecar comes last: a shard without one is not complete.
    const bool complete =
        listing.results.contains(file) && listing.state.contains(SidecarName(file));
    const bool here = fs::exists(folder_ + "/" + file) && fs::exists(Path(SidecarName(file)));
    if (complete && !here) missing.push_back(file);
    if (here && !complete) fs::remove(folder_ + "/" + file);  // lost in the store: packed again
  }
  ParallelFor(missing.size(), kAtOnce, [&](size_t, size_t i) {
    const std::string& file = missing[i];
    if (listing.state.contains(IndexPartName(file))) Copy(IndexPartName(file));
    Copy(SidecarName(file));
    MakeHole(folder_ + "/" + file, listing.results.at(file));
  });
}

std::vector<std::string> SharedState::FetchAppends() const {
  std::map<std::string, ByteBuffer> plans;
  for (const auto& object : remote::ListFolder(url_ + "/" + kStateFolder)) {
    if (!NumberOfAppend(object.name())) continue;
    plans[object.name()] = ReadWholeFile(remote::DataFiles(), object.url);
  }
  bool others = false;
  for (const auto& entry : fs::directory_iterator(folder_ + "/" + kStateFolder)) {
    const std::string name = entry.path().filename();
    if (!NumberOfAppend(name)) continue;
    const auto found = plans.find(name);
    others |= found == plans.end() || ReadWholeFile(PosixFiles(), entry.path()) != found->second;
  }
  if (others) Clear();
  std::vector<std::string> names;
  for (const auto& [name, plan] : plans) {
    WriteFileAtomically(PosixFiles(), Path(name), plan, false);
    names.push_back(name);
  }
  return names;
}

void SharedState::Publish(const std::string& path, const std::string& name,
                          remote::Upload::Existing existing) const {
  remote::Upload upload(Url(name), remote::Upload::Kind::kWhole);
  upload.Write(ReadWholeFile(PosixFiles(), path));
  upload.Finish(existing, "give the same command again when that job has ended");
}

void SharedState::RemoveIndexParts() const {
  for (const auto& object : remote::ListFolder(url_ + "/" + kStateFolder)) {
    if (object.name().ends_with(".recindex")) remote::RemoveObject(object.url);
  }
}

void SharedState::Remove() const {
  for (const auto& object : remote::ListFolder(url_ + "/" + kStateFolder)) {
    remote::RemoveObject(object.url);
  }
}

}  // namespace recpack::pack
