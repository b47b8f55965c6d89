#include "src/train/checkpoint/checkpoint_folder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/file_lock.h"
#include "recpack/base/folders.h"
#include "recpack/base/temporaries.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kSuffix = ".safetensors";

std::string StepName(uint64_t step) { return format("{}{:08}{}", kPrefix, step, kSuffix); }

// Returns nullopt for names that StepName() does not produce.
std::optional<uint64_t> ParseStep(const std::string& name) {
  if (!name.starts_with(kPrefix)) return {};
  uint64_t step = 0;
  std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), step);
  if (StepName(step) != name) return {};
  return step;
}

// Paths of the checkpoints in a folder, latest first.
using Listing = std::map<uint64_t, std::string, std::greater<>>;

Listing List(const std::string& folder) {
  Listing listing;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
    const std::string name = at->path().filename();
    if (const auto step = ParseStep(name)) listing[*step] = folder + "/" + name;
  }
  if (code && code != std::errc::no_such_file_or_directory) {
    throw SystemError("cannot list", folder, code.value());
  }
  return listing;
}

Descriptor LockOrThrow(const std::string& folder) {
  auto lock = TryLock(folder + "/.lock");
  if (lock) return std::move(*lock);
  throw Error(ErrorKind::kInvalidArgument, "another run writes its checkpoints into this folder",
              {.path = folder}, "wait for it to end, or choose another folder");
}

// `gone`: set if a file has disappeared.
LatestCheckpoint FirstWhole(FileSystem& files, const Listing& listing, bool& gone) {
  LatestCheckpoint latest;
  for (const auto& [step, path] : listing) {
    try {
      ReadCheckpoint(files, path);
      latest.path = path;
      break;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kNotFound) {
        gone = true;
      } else if (error.kind() == ErrorKind::kCorrupt) {
        latest.skipped.push_back({path, error.reason()});
      } else {
        throw;
      }
    }
  }
  return latest;
}

}  // namespace

CheckpointFolder::CheckpointFolder(FileSystem& files, std::string path,
                                   CheckpointFolderOptions options)
    : files_(files), path_(std::move(path)), options_(options) {
  if (options_.keep == 0) {
    throw Error(ErrorKind::kInvalidArgument, "no checkpoint would be kept", {.path = path_},
                "keep at least 1");
  }
  MakeFolder(path_, options_.durable);
  lock_ = LockOrThrow(path_);
  // Their writers no longer hold the lock.
  RemoveTemporaries(path_, [](const std::string& name) { return ParseStep(name).has_value(); });
}

std::optional<uint64_t> CheckpointFolder::LastStep() const {
  const Listing listing = List(path_);
  if (listing.empty()) return {};
  return listing.begin()->first;
}

std::string CheckpointFolder::Save(const CheckpointInfo& info, std::span<const NamedArray> arrays) {
  std::string path = path_ + "/" + StepName(info.step);
  WriteCheckpoint(files_, path, info, arrays, options_.durable);
  RemoveOlderThan(info.step);
  return path;
}

void CheckpointFolder::RemoveOlderThan(uint64_t step) {
  const Listing listing = List(path_);
  size_t kept = 1;  // the one for `step`
  for (auto older = listing.upper_bound(step); older != listing.end(); ++older) {
    if (++kept > options_.keep) files_.Remove(older->second);
  }
}

LatestCheckpoint FindLatestCheckpoint(FileSystem& files, const std::string& folder) {
  for (Listing listing = List(folder);;) {
    bool gone = false;
    LatestCheckpoint latest = FirstWhole(files, listing, gone);
    Listing now = List(folder);
    if (!gone || now == listing) return latest;
    listing = std::move(now);  // its writer continued in the meantime
  }
}

std::string ChooseCheckpoint(FileSystem& files, const std::string& path,
                             const std::function<void(const std::string& text)>& notice,
                             const std::string& advice) {
  if (!fs::is_directory(FileStatus(path))) return path;
  const LatestCheckpoint latest = FindLatestCheckpoint(files, path);
  for (const SkippedCheckpoint& skipped : latest.skipped) {
    if (notice) notice(format("skipped {}: {}", skipped.path, skipped.reason));
  }
  if (!latest.path) {
    throw Error(ErrorKind::kNotFound, "there is no checkpoint", {.path = path}, advice);
  }
  return *latest.path;
}

}  // namespace recpack::train
