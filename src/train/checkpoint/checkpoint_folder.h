// A folder with the last checkpoints of a run.
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
  size_t keep = 3;      // checkpoints; at least 1. Older ones are removed once a new one is there
  bool durable = true;  // false: faster, and the last checkpoints may be lost in a power cut
};

// One run's right to write there. One thread at a time.
class CheckpointFolder {
 public:
  // Makes the folder, locks it until this object or its process is gone, and removes what killed
  // writers left. `files` has to outlive it. Throws Error: kInvalidArgument where another run holds
  // the lock, kIo.
  CheckpointFolder(FileSystem& files, std::string path, CheckpointFolderOptions options = {});

  // Writes step-STEP.safetensors and removes older ones beyond `keep`; those of later steps stay
  // (of a run that was taken up again from further back). Returns its path. Throws as
  // WriteCheckpoint(); what was there before is then still there.
  std::string Save(const CheckpointInfo& info, std::span<const NamedArray> arrays);

  // The highest step of those that are there, damaged ones too; empty: there is none.
  std::optional<uint64_t> LastStep() const;

  const std::string& path() const noexcept { return path_; }

 private:
  void RemoveOlderThan(uint64_t step);

  FileSystem& files_;
  std::string path_;
  CheckpointFolderOptions options_;
  Descriptor lock_;
};

// A file that was passed over.
struct SkippedCheckpoint {
  std::string path;
  std::string reason;
};

struct LatestCheckpoint {
  std::optional<std::string> path;         // empty: there is none that is whole
  std::vector<SkippedCheckpoint> skipped;  // later ones, which are damaged
};

// The checkpoint of the highest step that is whole, every byte of it checked. Takes no lock: a run
// may be writing there. No folder is as an empty one. Throws Error (kIo, kUnsupported).
LatestCheckpoint FindLatestCheckpoint(FileSystem& files, const std::string& folder);

// What a user names: a checkpoint, which is returned as it is, or a folder, whose latest whole one
// is. `notice` is told of each that was passed over. Throws Error: kNotFound with `advice` where
// the folder has none, and as FindLatestCheckpoint().
std::string ChooseCheckpoint(FileSystem& files, const std::string& path,
                             const std::function<void(const std::string& text)>& notice,
                             const std::string& advice);

}  // namespace recpack::train
