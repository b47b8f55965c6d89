#include "src/pack/store/store_target.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/file_lock.h"
#include "src/base/format.h"
#include "src/pack/plan/plan.h"
#include "src/pack/plan/plan_name.h"
#include "src/pack/store/staged_files.h"
#include "src/remote/sign/credentials.h"
#include "src/remote/sign/sign_v4.h"
#include "src/remote/store/data_files.h"
#include "src/remote/store/listing.h"
#include "src/remote/store/local_copy.h"
#include "src/remote/store/upload.h"
#include "src/remote/url/url.h"
#include "src/shards/manifest/manifest.h"
#include "src/shards/manifest/sidecar.h"

namespace recpack::pack {
namespace {

namespace fs = std::filesystem;

// One for each URL and store: the same bucket's name may be at two.
std::string StagingFolder(const std::string& url) {
  const std::string store =
      remote::FindSettings(remote::ParseUrl(url).scheme, remote::ProcessEnvironment).endpoint;
  return remote::CacheFolder() + "/pack/" + remote::HexSha256(store + "\n" + url).substr(0, 32);
}

// Tells whether a pack gives such a name, to an object or to an upload.
bool IsPacksName(const std::string& name) {
  return name == kManifestName || name.ends_with(".tfrecord") || name.ends_with(".recindex") ||
         name.ends_with(".tfrecord.idx");
}

std::string PlanPath(const std::string& folder) {
  return folder + "/" + kStateFolder + "/" + PlanName(0);
}

// One that a power failure has truncated is none: it is made again.
std::optional<Plan> PlanOfJob(const std::string& folder) {
  if (!fs::exists(PlanPath(folder))) return {};
  try {
    return ReadPlan(PosixFiles(), PlanPath(folder));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kCorrupt) throw;
    return {};
  }
}

// Names of the files that the job has made or will make.
std::set<std::string> NamesOfJob(const std::string& folder) {
  std::set<std::string> names;
  if (!fs::exists(folder)) return names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) names.insert(entry.path().filename());
  }
  if (fs::exists(PlanPath(folder))) names.insert(kManifestName);
  const auto plan = PlanOfJob(folder);
  if (!plan) return names;
  for (const auto& file : plan->shards.files()) {
    names.insert(file);
    names.insert(file + ".idx");
  }
  for (const auto& split : plan->splits) names.insert(split.name + ".recindex");
  return names;
}

// Names of the shards of this task.
std::set<std::string> NamesOfTask(const std::string& folder, uint32_t task, uint32_t tasks) {
  std::set<std::string> names;
  const auto plan = PlanOfJob(folder);
  if (!plan) return names;
  for (size_t i = task; i < plan->shards.size(); i += tasks) names.insert(plan->shards[i].file);
  return names;
}

StoreTarget::Job JobOf(bool overwrite) {
  return overwrite ? StoreTarget::Job::kOverwrite : StoreTarget::Job::kNew;
}

}  // namespace

StoreTarget::StoreTarget(const std::string& url, Job job, uint32_t task, uint32_t tasks)
    : url_(remote::WithoutLastSlash(url)),
      folder_(StagingFolder(url_) + (job == Job::kAppend ? "-append" : "")),
      task_(task),
      tasks_(tasks),
      state_(folder_, url_) {
  remote::CheckWritable(remote::ParseUrl(url_));
  if (job == Job::kOverwrite) RemoveOld();
  if (tasks > 1) state_.Fetch(task, tasks);
  std::map<std::string, uint64_t> results;
  for (const auto& object : remote::ListFolder(url_)) results[object.name()] = object.bytes;
  if (job == Job::kAppend) {
    try {
      append_.emplace(state_, results);
    } catch (const Error& error) {
      throw InStore(error);
    }
    RemoveUploads(append_->OwnShards());
  } else {
    Compare(results, job == Job::kOverwrite);
  }
  fs::create_directories(folder_);
  files_ = std::make_unique<StagedFiles>(folder_, url_, tasks > 1 ? &state_ : nullptr,
                                         append_ ? &*append_ : nullptr);
}

void StoreTarget::FindOthers() {
  if (tasks_ > 1) state_.FetchAll();
}

StoreTarget::~StoreTarget() {
  files_.reset();
  std::error_code unknown;
  if (!fs::exists(folder_ + "/" + kManifestName, unknown)) return;
  try {
    RemoveUploads(append_ ? append_->OwnShards() : NamesOfJob(folder_));
    if (tasks_ > 1) state_.RemoveIndexParts();
  } catch (...) {  // NOLINT(bugprone-empty-catch): the next pack removes them
  }
}

void StoreTarget::RemoveUploads(const std::set<std::string>& ours) const {
  std::set<std::string> mine = ours;
  if (tasks_ > 1) mine = NamesOfTask(folder_, task_, tasks_);  // others may be uploading
  remote::RemoveUploads(url_, [&](const std::string& name) { return mine.contains(name); });
}

void StoreTarget::RemoveOld() const {
  std::set<std::string> names;
  for (const auto& object : remote::ListFolder(url_)) names.insert(object.name());
  std::set<std::string> old;
  for (const std::string& name : names) {
    if (IsPacksName(name)) old.insert(name);
  }
  if (names.contains(kManifestName)) {
    const Manifest manifest = ReadManifest(remote::DataFiles(), url_);
    for (const auto& file : manifest.files) old.insert(file.file);
    remote::RemoveObject(url_ + "/" + kManifestName);  // first: no data set without its shards
    old.erase(kManifestName);
  }
  for (const std::string& name : old) {
    if (names.contains(name)) remote::RemoveObject(url_ + "/" + name);
  }
  state_.Remove();
}

void StoreTarget::Compare(const std::map<std::string, uint64_t>& results, bool with_others) const {
  const std::set<std::string> ours = NamesOfJob(folder_);
  for (const auto& [name, bytes] : results) {
    if (with_others || ours.contains(name)) continue;
    throw Error(ErrorKind::kInvalidArgument, format("there is something already: {}", name),
                {.path = url_},
                "choose another folder, or give --overwrite to replace an earlier pack");
  }
  RemoveUploads(ours);
  if (results.empty() && tasks_ == 1) return Forget();
  bool lost = false;
  for (const std::string& name : ours) {
    const std::string path = folder_ + "/" + name;
    if (!fs::exists(path)) continue;
    const auto found = results.find(name);
    if (found != results.end() && found->second == fs::file_size(path)) continue;
    fs::remove(path);
    lost = true;
  }
  if (lost) fs::remove(folder_ + "/" + kManifestName);  // written again with what it lists
}

// Nothing is in the store: the state of an earlier job would only be in the way of another one.
void StoreTarget::Forget() const {
  const std::string lock = folder_ + "/" + kStateFolder + "/lock";
  if (fs::exists(lock) && TryLock(lock, false)) fs::remove_all(folder_);
}

Error StoreTarget::InStore(const Error& error) const {
  const auto in_store = [this](std::string text) {
    if (const size_t at = text.find(folder_); at != std::string::npos) {
      text.replace(at, folder_.size(), url_);
    }
    return text;
  };
  Place place = error.place();
  place.path = in_store(place.path);
  return Error(error.kind(), error.reason(), place, in_store(error.advice()), error.error_number());
}

std::unique_ptr<StoreTarget> DirectToStore(PackOptions& options) {
  if (!remote::IsUrl(options.out)) return nullptr;
  if (options.append && options.tasks > 1) {
    throw Error(ErrorKind::kUnsupported, "several tasks append to a folder on a disk only",
                {.path = options.out}, "append without --task");
  }
  CheckTasks(options);  // before anything is removed
  auto job = JobOf(options.overwrite);
  if (options.append) job = StoreTarget::Job::kAppend;
  auto target = std::make_unique<StoreTarget>(options.out, job, options.task, options.tasks);
  if (options.tasks > 1) options.others = [found = target.get()] { found->FindOthers(); };
  options.url = target->url();
  options.out = target->folder();
  options.files = &target->files();
  return target;
}

std::unique_ptr<StoreTarget> DirectToStore(PackStreamOptions& options) {
  if (!remote::IsUrl(options.out)) return nullptr;
  auto target = std::make_unique<StoreTarget>(options.out, JobOf(options.overwrite));
  options.out = target->folder();
  options.files = &target->files();
  return target;
}

}  // namespace recpack::pack
