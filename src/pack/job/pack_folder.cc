#include "src/pack/job/pack_folder.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/folders.h"
#include "src/pack/plan/plan.h"
#include "src/pack/plan/plan_name.h"
#include "src/shards/manifest/sidecar.h"

namespace recpack::pack {
namespace {

namespace fs = std::filesystem;

// Lock files and plans are matched by their full names: a split may be called "planes".
bool IsLock(std::string_view name) {
  return name == "lock" || name == "lock-turn" || NumberIn(name, "lock-", "");
}

// Returns the shards of the plan; none if the file is not a plan. Finished shards have sidecars.
NameList ShardsOfPlan(FileSystem& files, const std::string& path) {
  try {
    return ReadPlan(files, path).shards.files();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported) return {};
    throw;
  }
}

void RemoveIfThere(const std::string& path) {
  std::error_code code;
  fs::remove(path, code);
  if (code) throw SystemError("cannot remove", path, code.value());
}

}  // namespace

PackFolder::PackFolder(const PackOptions& options, bool later)
    : options_(options), folder_(options.out), state_folder_(options.out + "/" + kStateFolder) {
  if (const auto there = FileStatus(folder_); fs::exists(there) && !fs::is_directory(there)) {
    throw Error(ErrorKind::kInvalidArgument, "is a file, not a folder to pack into",
                {.path = folder_});
  }
  const bool state_was_there = fs::exists(FileStatus(state_folder_));
  if (!state_was_there && !options.overwrite && !options.append) RefuseForeignContent();
  if (options.append) RefuseNothingToAppendTo();
  MakeFolder(state_folder_, options.sync);
  const bool alone = options.tasks == 1;
  LockOrThrow(StatePath("lock"), !alone);
  if (!alone) {
    const Descriptor turn = TakeTurn();  // so that no other task tries this lock at the same time
    LockOrThrow(TaskLockPath(options.task), false);
  }
  if (options.overwrite && !later) RemoveOldOutput();
  if (options.append) FindLastAppend();
}

void PackFolder::LockOrThrow(const std::string& path, bool shared) {
  auto lock = TryLock(path, shared);
  if (!lock) {
    throw Error(ErrorKind::kInvalidArgument, "another recpack is packing into this folder",
                {.path = folder_}, "wait for it to end, or choose another folder");
  }
  locks_.push_back(std::move(*lock));
}

std::string PackFolder::PlanPath() const { return StatePath(PlanName(append_)); }

void PackFolder::RefuseForeignContent() const {
  if (!fs::exists(folder_) || fs::is_empty(folder_)) return;
  // Another task may have begun since; its state folder is the first thing there.
  if (fs::exists(FileStatus(state_folder_))) return;
  throw Error(ErrorKind::kInvalidArgument, "the output folder is not empty", {.path = folder_},
              "choose another folder, or empty it");
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
    for (const std::string& file : manifest.FileNames()) RemoveIfThere(ShardPath(file));
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

uint32_t PackFolder::LastAppend() const {
  uint32_t last = 0;
  for (const auto& entry : fs::directory_iterator(state_folder_)) {
    last = std::max(last, NumberOfAppend(entry.path().filename().string()).value_or(0));
  }
  return last;
}

}  // namespace recpack::pack
