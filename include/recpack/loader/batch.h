// A batch in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/gain.h"
#include "recpack/loader/array_spec.h"

namespace recpack {

// What a loader made, in a slab that goes back to it with the batch. Move-only; any thread may hold
// or destroy it, also after its loader, when it keeps its own slab and no other.
class Batch {
 public:
  Batch() = default;
  Batch(Batch&&) noexcept = default;
  Batch& operator=(Batch&&) noexcept = default;

  uint64_t epoch() const noexcept { return epoch_; }
  uint64_t number() const noexcept { return number_; }  // in the epoch, from where this run began
  // Samples there are, of this rank: the batch size but in a last batch that is kept short.
  uint32_t size() const noexcept { return size_; }
  const std::vector<ArraySpec>& arrays() const noexcept { return *arrays_; }

  // size() samples of the array, one behind the other. Throws Error (kInvalidArgument) for a name
  // that is not there.
  template <typename T>
  const T* Data(const std::string& name) const {
    return static_cast<const T*>(Raw(name));
  }
  const void* Raw(const std::string& name) const;
  const void* Raw(size_t array) const noexcept { return slab_.get() + (*arrays_)[array].offset; }

  // Off: an experiment asked for it (RequestMode(), recprobe gain), and it is repeated or made up.
  bool live() const noexcept { return live_; }
  // In a run of recprobe gain: the block that it belongs to.
  const std::optional<GainPlan::Block>& gain_block() const noexcept { return gain_block_; }

  // By sample: the record's ordinal in the split; of a substituted record, the one taken in its
  // place.
  const std::vector<uint64_t>& ids() const noexcept { return *ids_; }
  // By sample: which view of the mixture it is from, counted from 0.
  const std::vector<uint32_t>& views() const noexcept { return *views_; }
  // By sample: 0 where it only repeats another to fill the last batch (LastBatch::kPad).
  const std::vector<uint8_t>& mask() const noexcept { return *mask_; }

  // Where the consumer stands once it has used this batch: Loader::Options::resume takes it.
  const std::string& token() const noexcept { return token_; }

 private:
  friend class Loader;

  std::shared_ptr<void> hold_;  // gives the slab back
  std::shared_ptr<const uint8_t> slab_;
  std::shared_ptr<const std::vector<ArraySpec>> arrays_;
  const std::vector<uint64_t>* ids_ = nullptr;
  const std::vector<uint32_t>* views_ = nullptr;
  const std::vector<uint8_t>* mask_ = nullptr;
  uint64_t epoch_ = 0;
  uint64_t number_ = 0;
  uint32_t size_ = 0;
  bool live_ = false;
  std::optional<GainPlan::Block> gain_block_;
  std::string token_;
};

}  // namespace recpack
