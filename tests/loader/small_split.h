// Small data set on disk, and helpers for batches of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "recpack/loader/loader.h"

namespace recpack {

// Shards of records with "image" (3 x 8 x 8 planar bytes), "label" (the ordinal), "words" (ordinal
// modulo 5 int64 values), "text", "file" (a name) and "class" (SmallClass()). Removed on
// destruction.
class SmallSplit {
 public:
  explicit SmallSplit(uint64_t records, uint64_t shards = 3);
  ~SmallSplit();

  const std::string& folder() const { return folder_; }
  std::string shard(uint64_t i) const;
  // Flips a bit in the middle of a record's payload.
  void Damage(uint64_t ordinal) const;

 private:
  std::string folder_;
  uint64_t shards_;
};

// In every 7 consecutive records, 4 are of class 0, 2 of class 1 and 1 of class 5.
int64_t SmallClass(uint64_t id);

// Pad 1, crop 8, flip, f32 NCHW; and the label.
std::vector<Field> SmallFields();

struct Taken {
  uint64_t epoch;
  std::vector<uint64_t> ids;    // of unmasked samples
  std::vector<uint32_t> views;  // of unmasked samples
  std::vector<uint8_t> bytes;   // of all arrays
  std::string token;

  bool operator==(const Taken& other) const = default;
};

Taken TakenOf(const Batch& batch);

// Takes the next batches, across epochs.
std::vector<Taken> Take(Loader& loader, size_t batches);

// A sample: view in the mixture, and record.
using ViewAndId = std::pair<uint32_t, uint64_t>;

// Returns the unmasked samples of the first `steps` steps of all ranks, ordered by position. Sets
// `token` to the following position. Expects all ranks' tokens to be equal.
std::vector<ViewAndId> TakeRanks(const Mixture& samples, LoaderOptions options, uint32_t world,
                                 size_t steps, std::string* token = nullptr);

// Returns those of a whole epoch. Expects all ranks to make the same number of steps.
std::vector<ViewAndId> EpochOfRanks(const Mixture& samples, LoaderOptions options, uint32_t world);

}  // namespace recpack
