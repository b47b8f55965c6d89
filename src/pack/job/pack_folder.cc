#include "src/pack/job/pack_folder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/file_lock.h"
#include "recpack/base/folders.h"
#include "recpack/base/temporaries.h"
#include "src/base/format.h"
#include "src/shards/manifest/sidecar.h"

namespace recpack::pack {
namespace {

namespace fs = std::filesystem;

std::string TaskLock(uint32_t task) { return format("lock-{}", task); }

// Returns 12 for "PREFIX12SUFFIX"; nullopt for other names.
std::optional<uint32_t> NumberIn(std::string_view name, std::string_view prefix,
                                 std::string_view suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return {};
  const char* const end = name.data() + name.size() - suffix.size();
  uint32_t number = 0;
  const auto [stopped, code] = std::from_chars(name.data() + prefix.size(), end, number);
  return code == std::errc() && stopped == end ? std::optional(number) : std::nullopt;
}

std::optional<uint32_t> NumberOfAppend(std::string_view name) {
  return NumberIn(name, "plan-append", ".json");
}

// Lock files and plans are matched by their full names: a split may be called "planes".
bool IsLock(std::string_view name) {
  return name == "lock" || name == "lock-turn" || NumberIn(name, "lock-", "");
}
bool IsPlan(std::string_view name) { return name == "plan.json" || NumberOfAppend(name); }

// Returns the shards of the plan; none if the file is not a plan. Finished shards have sidecars.
NameList ShardsOfPlan(FileSystem& files, const std::string& path) {
  try {
    return ReadPlan(files, path).shards.files();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported) return {};
    throw;
  }
}

// Returns the task that writes a file of the state folder; nullopt for files that all tasks write.
std::optional<uint32_t> FindTask(std::string_view name, const Plan& plan, uint32_t tasks) {
  if (name.ends_with(".json")) name.remove_suffix(5);  // a sidecar
  const auto shard = plan.shards.files().Find(name);
  if (!shard) return {};
  return static_cast<uint32_t>(*shard % tasks);
}

// Index and manifest files. Files of others may lie beside the shards.
bool IsFinishersFile(const std::string& name) {
  return name == kManifestName || name.ends_with(".tfrecord.idx");
}

void RemoveIfThere(const std::string& path) {
  std::error_code code;
  fs::remove(path, code);
  if (code) throw SystemError("cannot remove", path, code.value());
}

}  // namespace

bool Lists(const Manifest& manifest, const Plan& plan) {
  const std::string first = plan.shards.files().front();
  return std::ranges::any_of(manifest.splits, [&](const ManifestSplit& split) {
    return split.shards.files().Find(first).has_value();
  });
}

PackFolder::PackFolder(const PackOptions& options, bool later)
    : options_(options), folder_(options.out), state_folder_(options.out + "/" + kStateFolder) {
  if (const auto there = StatusOf(folder_); fs::exists(there) && !fs::is_directory(there)) {
    throw Error(ErrorKind::kInvalidArgument, "is a file, not a folder to pack into",
                {.path = folder_});
  }
  const bool state_was_there = fs::exists(StatusOf(state_folder_));
  if (!state_was_there && !options.overwrite && !options.append) RefuseForeignContent();
  if (options.append) RefuseNothingToAppendTo();
  MakeFolder(state_folder_, options.sync);
  const bool alone = options.tasks == 1;
  LockOrThrow("lock", !alone);
  if (!alone) {
    const Descriptor turn = TakeTurn();  // so that no other task tries this lock at the same time
    LockOrThrow(TaskLock(options.task), false);
  }
  if (options.overwrite && !later) RemoveOldOutput();
  if (options.append) FindLastAppend();
}

void PackFolder::LockOrThrow(const std::string& name, bool shared) {
  auto lock = TryLock(StatePath(name), shared);
  if (!lock) {
    throw Error(ErrorKind::kInvalidArgument, "another recpack is packing into this folder",
                {.path = folder_}, "wait for it to end, or choose another folder");
  }
  locks_.push_back(std::move(*lock));
}

std::string PackFolder::StatePath(const std::string& name) const {
  return state_folder_ + "/" + name;
}

std::string PackFolder::PlanPath() const {
  return StatePath(append_ == 0 ? "plan.json" : format("plan-append{}.json", append_));
}

std::string PackFolder::ShardPath(const std::string& file) const { return folder_ + "/" + file; }

std::string PackFolder::TemporaryPath(const std::string& file) const {
  return StatePath(file + ".tmp");
}

std::string PackFolder::IndexPartPath(const std::string& file) const {
  return StatePath(file + ".recindex");
}

void PackFolder::RefuseForeignContent() const {
  if (!fs::exists(folder_) || fs::is_empty(folder_)) return;
  throw Error(ErrorKind::kInvalidArgument, "the output folder is not empty", {.path = folder_},
              "choose another folder, or empty it");
}

Descriptor PackFolder::TakeTurn() const {
  return options_.tasks == 1 ? Descriptor() : WaitForLock(StatePath("lock-turn"));
}

void PackFolder::RemoveStaleTemporaries(const Plan& plan) const {
  RemoveTemporaries(state_folder_, [&](const std::string& name) {
    const auto task = FindTask(name, plan, options_.tasks);
    return !task || *task == options_.task || TryLock(StatePath(TaskLock(*task)));
  });
  RemoveTemporaries(folder_, IsFinishersFile);
}

void PackFolder::RemoveOldOutput() {
  const auto remove_shard = [&](const std::string& file) {
    RemoveIfThere(ShardPath(file));
    RemoveIfThere(ShardPath(file) + ".idx");
  };
  for (const auto& entry : fs::directory_iterator(state_folder_)) {
    const std::string name = entry.path().filename();
    if (IsLock(name) || name.ends_with(".tmp")) continue;
    if (IsPlan(name)) {
      for (const auto& file : ShardsOfPlan(*options_.files, entry.path())) remove_shard(file);
    } else if (name.ends_with(".tfrecord.json")) {
      remove_shard(name.substr(0, name.size() - 5));
    }
    RemoveIfThere(entry.path());
  }
  if (options_.files->Exists(folder_ + "/" + kManifestName)) {
    const Manifest manifest = ReadManifest(*options_.files, folder_);
    for (const auto& split : manifest.splits) {
      for (const auto& file : split.shards.files()) remove_shard(file);
      if (!split.index.empty()) RemoveIfThere(folder_ + "/" + split.index);
    }
    for (const auto& file : manifest.files) RemoveIfThere(ShardPath(file.file));
    RemoveIfThere(folder_ + "/" + kManifestName);
  }
}

void PackFolder::RefuseNothingToAppendTo() const {
  if (!options_.files->Exists(folder_ + "/" + kManifestName)) {
    throw Error(ErrorKind::kNotFound, "there is no data set to append to", {.path = folder_},
                "pack without --append first");
  }
}

void PackFolder::FindLastAppend() {
  base_ = ReadManifest(*options_.files, folder_);
  append_ = LastAppend();
}

bool PackFolder::LastAppendIsAnotherJob(const Plan& wanted) const {
  if (append_ == 0) return true;
  const Plan last = ReadPlan(*options_.files, PlanPath());
  return Lists(*base_, last) && !DescribeDifference(last, wanted).empty();
}

uint32_t PackFolder::LastAppend() const {
  uint32_t last = 0;
  for (const auto& entry : fs::directory_iterator(state_folder_)) {
    last = std::max(last, NumberOfAppend(entry.path().filename().string()).value_or(0));
  }
  return last;
}

bool PackFolder::HasShardsOfAnotherJob(const Plan& wanted) const {
  return !options_.files->Exists(PlanPath()) && Lists(*base_, wanted);
}

std::string PackFolder::WayOutOfAnotherJob() const {
  if (append_ == 0) {
    return "to resume, use the same source and options; to start again, use --overwrite";
  }
  return format(
      "to resume, use the same source and options; to discard the append, remove {} and the "
      "shards *-append{}-* in this folder, which are not in the data set yet",
      PlanPath(), append_);
}

void PackFolder::Adopt(const Plan& wanted) {
  if (!options_.files->Exists(PlanPath())) {
    for (const auto& file : wanted.shards.files()) {
      if (!options_.files->Exists(ShardPath(file))) continue;
      throw Error(ErrorKind::kInvalidArgument, "already exists and was not written by recpack",
                  {.path = ShardPath(file)}, "choose another folder, or move it away");
    }
    WritePlan(*options_.files, PlanPath(), wanted, options_.sync);
    return;
  }
  const Plan there = ReadPlan(*options_.files, PlanPath());
  const std::string difference = DescribeDifference(there, wanted);
  if (difference.empty()) return;
  throw Error(ErrorKind::kInvalidArgument,
              append_ == 0 ? "this folder belongs to another pack job: " + difference
                           : "another append was started here and is not finished: " + difference,
              {.path = folder_}, WayOutOfAnotherJob());
}

std::optional<Sidecar> PackFolder::FindComplete(const std::string& file) const {
  const std::string sidecar_path = SidecarPath(options_.out, file);
  std::error_code missing;
  const uint64_t bytes = fs::file_size(ShardPath(file), missing);
  if (missing || !options_.files->Exists(sidecar_path)) return {};
  try {
    Sidecar sidecar = ReadSidecar(*options_.files, sidecar_path);
    if (sidecar.shard.bytes == bytes) return sidecar;
  } catch (const Error& error) {  // truncated by a power failure when sync was off
    if (error.kind() != ErrorKind::kCorrupt) throw;
  }
  return {};
}

void PackFolder::Publish(const std::string& file, const Sidecar& sidecar) {
  WriteFileAtomically(*options_.files, StatePath(file + ".json"), AsBytes(SidecarToJson(sidecar)),
                      options_.sync);
  options_.files->Rename(TemporaryPath(file), ShardPath(file), options_.sync);
}

}  // namespace recpack::pack
