#include "src/dataset/pack_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/dataset/sidecar.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;

constexpr char kStateFolder[] = ".recpack";

void MakeFolder(const std::string& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code) throw SystemError("cannot make the folder", path, code.value());
}

int Lock(const std::string& path, int mode) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) throw SystemError("cannot open the lock", path, errno);
  if (::flock(fd, mode | LOCK_NB) == 0) return fd;
  const int reason = errno;
  ::close(fd);
  if (reason != EWOULDBLOCK) throw SystemError("cannot lock", path, reason);
  throw Error(ErrorKind::kInvalidArgument, "another recpack is packing into this folder",
              {.path = fs::path(path).parent_path().parent_path().string()},
              "wait for it to end, or choose another folder");
}

std::string ReadText(FileSystem& files, const std::string& path) {
  return std::string(AsText(ReadWholeFile(files, path)));
}

void RemoveIfThere(const std::string& path) {
  std::error_code code;
  fs::remove(path, code);
  if (code) throw SystemError("cannot remove", path, code.value());
}

}  // namespace

PackFolder::PackFolder(const PackOptions& options)
    : options_(options), folder_(options.out), state_folder_(options.out + "/" + kStateFolder) {
  if (fs::exists(folder_) && !fs::is_directory(folder_)) {
    throw Error(ErrorKind::kInvalidArgument, "is a file, not a folder to pack into",
                {.path = folder_});
  }
  const bool state_was_there = fs::exists(state_folder_);
  if (!state_was_there && !options.overwrite && !options.append) RefuseForeignContent();
  MakeFolder(state_folder_);
  const bool alone = options.tasks == 1;
  locks_.push_back(Lock(StatePath("lock"), alone ? LOCK_EX : LOCK_SH));
  if (!alone) locks_.push_back(Lock(StatePath(format("lock-{}", options.task)), LOCK_EX));
  if (alone) RemoveTemporaries();  // other tasks may be writing theirs
  if (options.overwrite) RemoveOldOutput();
  if (options.append) FindLastAppend();
}

PackFolder::~PackFolder() {
  for (const int fd : locks_) ::close(fd);
}

std::string PackFolder::StatePath(const std::string& name) const {
  return state_folder_ + "/" + name;
}

std::string PackFolder::PlanPath() const {
  return StatePath(append_ == 0 ? "plan.json" : format("plan-append{}.json", append_));
}

std::string PackFolder::ShardPath(const PlannedShard& shard) const {
  return folder_ + "/" + shard.file;
}

std::string PackFolder::TemporaryPath(const PlannedShard& shard) const {
  return StatePath(shard.file + ".tmp");
}

std::string PackFolder::IndexPartPath(const std::string& file) const {
  return StatePath(file + ".recindex");
}

void PackFolder::RefuseForeignContent() const {
  if (!fs::exists(folder_) || fs::is_empty(folder_)) return;
  throw Error(ErrorKind::kInvalidArgument, "the output folder is not empty", {.path = folder_},
              "choose another folder, or empty it");
}

// What a killed packer left: files that were never renamed into place.
void PackFolder::RemoveTemporaries() {
  const auto remove_from = [](const std::string& folder, const std::vector<std::string>& marks) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      const auto is_in = [&](const std::string& mark) { return name.find(mark) != name.npos; };
      if (std::ranges::any_of(marks, is_in)) RemoveIfThere(entry.path());
    }
  };
  remove_from(state_folder_, {".tmp"});
  remove_from(folder_, {std::string(kManifestName) + ".tmp-", ".tfrecord.idx.tmp-"});
}

// Removes what plans and manifest name, and nothing else.
void PackFolder::RemoveOldOutput() {
  for (const auto& entry : fs::directory_iterator(state_folder_)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("lock")) continue;
    if (name.starts_with("plan") && name.ends_with(".json")) {
      for (const auto& shard : PlanFromJson(ReadText(*options_.files, entry.path()), name).shards) {
        RemoveIfThere(ShardPath(shard));
        RemoveIfThere(ShardPath(shard) + ".idx");
      }
    }
    RemoveIfThere(entry.path());
  }
  if (options_.files->Exists(folder_ + "/" + kManifestName)) {
    for (const auto& split : ReadManifest(*options_.files, folder_).splits) {
      for (const auto& shard : split.shards) RemoveIfThere(folder_ + "/" + shard.file);
      if (!split.index.empty()) RemoveIfThere(folder_ + "/" + split.index);
    }
    RemoveIfThere(folder_ + "/" + kManifestName);
  }
}

void PackFolder::FindLastAppend() {
  if (!options_.files->Exists(folder_ + "/" + kManifestName)) {
    throw Error(ErrorKind::kNotFound, "there is no data set to append to", {.path = folder_},
                "pack without --append first");
  }
  base_ = ReadManifest(*options_.files, folder_);
  while (fs::exists(StatePath(format("plan-append{}.json", append_ + 1)))) ++append_;
}

bool PackFolder::LastAppendIsAnotherJob(const Plan& wanted) const {
  if (append_ == 0) return true;
  const Plan last = PlanFromJson(ReadText(*options_.files, PlanPath()), PlanPath());
  if (DescribeDifference(last, wanted).empty()) return false;
  std::set<std::string> listed;
  for (const auto& split : base_->splits) {
    for (const auto& shard : split.shards) listed.insert(shard.file);
  }
  return std::ranges::all_of(
      last.shards, [&](const PlannedShard& shard) { return listed.contains(shard.file); });
}

void PackFolder::Adopt(const Plan& wanted) {
  if (!options_.files->Exists(PlanPath())) {
    for (const auto& shard : wanted.shards) {
      if (!options_.files->Exists(ShardPath(shard))) continue;
      throw Error(ErrorKind::kInvalidArgument,
                  "is in the way, and no plan of recpack's says it made it",
                  {.path = ShardPath(shard)}, "choose another folder, or move it away");
    }
    WriteFileAtomically(*options_.files, PlanPath(), AsBytes(PlanToJson(wanted)), options_.sync);
    return;
  }
  const Plan there = PlanFromJson(ReadText(*options_.files, PlanPath()), PlanPath());
  const std::string difference = DescribeDifference(there, wanted);
  if (difference.empty()) return;
  throw Error(ErrorKind::kInvalidArgument,
              "this folder was packed, or begun, as another job: " + difference, {.path = folder_},
              "use the same source and options to go on, or --overwrite to start again");
}

std::optional<Sidecar> PackFolder::FindComplete(const PlannedShard& shard) const {
  const std::string path = ShardPath(shard);
  const std::string sidecar_path = StatePath(shard.file + ".json");
  std::error_code missing;
  const uint64_t bytes = fs::file_size(path, missing);
  if (missing || !options_.files->Exists(sidecar_path)) return {};
  Sidecar sidecar = SidecarFromJson(ReadText(*options_.files, sidecar_path), sidecar_path);
  if (sidecar.shard.bytes != bytes) return {};
  return sidecar;
}

void PackFolder::Publish(const PlannedShard& shard, const Sidecar& sidecar) {
  WriteFileAtomically(*options_.files, StatePath(shard.file + ".json"),
                      AsBytes(SidecarToJson(sidecar)), options_.sync);
  options_.files->Rename(TemporaryPath(shard), ShardPath(shard), options_.sync);
}

}  // namespace recpack
