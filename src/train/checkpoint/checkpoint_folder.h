// Folder with the last checkpoints of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recpack/base/descriptor.h"
#include "recpack/base/file.h"
#include "src/train/checkpoint/checkpoint.h"

namespace recpack::train {

struct CheckpointFolderOptions {
  // number of checkpoints, at least 1; older ones are removed after a new one is written
  size_t keep = 3;
  bool durable = true;  // false: faster, but a power failure may lose the last checkpoints
};

// Exclusive writer of a run's checkpoint folder. Not thread-safe.
class CheckpointFolder {
 public:
  // Creates the folder, locks it for the life of this object (or process), and removes temporary
  // files of killed writers. `files` must outlive it. Throws Error: kInvalidArgument if another run
  // holds the lock, kIo.
  CheckpointFolder(FileSystem& files, std::string path, CheckpointFolderOptions options = {});

  // Writes step-STEP.safetensors and removes older checkpoints beyond `keep`. Later steps, of a run
  // that was resumed from an earlier point, are kept. Returns the path. Throws like
  // WriteCheckpoint(); existing checkpoints are then still there.
  std::string Save(const CheckpointInfo& info, std::span<const NamedArray> arrays);

  // The highest step present, including damaged files; nullopt if there is none.
  std::optional<uint64_t> LastStep() const;

  const std::string& path() const noexcept { return path_; }

 private:
  void RemoveOlderThan(uint64_t step);

  FileSystem& files_;
  std::string path_;
  CheckpointFolderOptions options_;
  Descriptor lock_;
};

// A checkpoint that was skipped.
struct SkippedCheckpoint {
  std::string path;
  std::string reason;
};

struct LatestCheckpoint {
  std::optional<std::string> path;         // nullopt: no valid checkpoint
  std::vector<SkippedCheckpoint> skipped;  // later ones, which are damaged
};

// Returns the valid checkpoint with the highest step, after verifying every byte. Takes no lock, so
// a run may be writing there. A missing folder counts as empty. Throws Error (kIo, kUnsupported).
LatestCheckpoint FindLatestCheckpoint(FileSystem& files, const std::string& folder);

// Resolves a path that a user gives: a checkpoint is returned as it is, a folder gives its latest
// valid checkpoint. `notice` is called for each skipped one. Throws Error: kNotFound with `advice`
// if the folder has none, and errors of FindLatestCheckpoint().
std::string ChooseCheckpoint(FileSystem& files, const std::string& path,
                             const std::function<void(const std::string& text)>& notice,
                             const std::string& advice);

}  // namespace recpack::train
