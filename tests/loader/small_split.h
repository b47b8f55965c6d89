// A small data set on disk, and batches of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "recpack/loader/loader.h"

namespace recpack {

// Shards of records with "image" (3 x 8 x 8 planar bytes), "label" (the ordinal), "words" (as many
// int64 as the ordinal modulo 5), "text", "file" (a name) and "class" (SmallClass()). Gone with the
// object.
class SmallSplit {
 public:
  explicit SmallSplit(uint64_t records, uint64_t shards = 3);
  ~SmallSplit();

  const std::string& folder() const { return folder_; }
  std::string shard(uint64_t i) const;
  // Flips a bit in the middle of the payload of a record.
  void Damage(uint64_t ordinal) const;

 private:
  std::string folder_;
  uint64_t shards_;
};

// Of 7 records in a row 4 are of class 0, 2 of class 1 and 1 of class 5.
int64_t SmallClass(uint64_t id);

// Pad 1 and crop 8 with flips, f32 NCHW, and the label.
std::vector<Field> SmallFields();

struct Taken {
  uint64_t epoch;
  std::vector<uint64_t> ids;    // of samples that the mask does not hide
  std::vector<uint32_t> views;  // of the same
  std::vector<uint8_t> bytes;   // of all arrays
  std::string token;

  bool operator==(const Taken& other) const = default;
};

Taken TakenOf(const Batch& batch);

// The next batches, past ends of epochs.
std::vector<Taken> Take(Loader& loader, size_t batches);

// A sample: the view of the mixture and the record.
using ViewAndId = std::pair<uint32_t, uint64_t>;

// The unmasked samples of the first `steps` steps of all ranks, in the order of their positions.
// Sets `token` to the one behind them. Expects that all ranks' tokens are the same.
std::vector<ViewAndId> TakeRanks(const Mixture& samples, LoaderOptions options, uint32_t world,
                                 size_t steps, std::string* token = nullptr);

// Those of a whole epoch. Expects that all ranks make the same number of steps.
std::vector<ViewAndId> EpochOfRanks(const Mixture& samples, LoaderOptions options, uint32_t world);

}  // namespace recpack
