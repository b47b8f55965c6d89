// Batch of samples in host memory.
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

// A batch made by a loader. Owns its slab, which goes back to the loader when the batch is
// destroyed. Move-only. May be held and destroyed on any thread, also after the loader; it then
// keeps only its own slab alive.
class Batch {
 public:
  Batch() = default;
  Batch(Batch&&) noexcept = default;
  Batch& operator=(Batch&&) noexcept = default;

  uint64_t epoch() const noexcept { return epoch_; }
  // In the epoch, counted from where this run began
  uint64_t number() const noexcept { return number_; }
  // Number of samples of this rank: the batch size, except in a short last batch
  // (LastBatch::kKeep).
  uint32_t size() const noexcept { return size_; }
  const std::vector<ArraySpec>& arrays() const noexcept { return *arrays_; }

  // Returns the array's rows, contiguous: of size() samples, unless it is ragged. Throws Error
  // (kInvalidArgument) if there is no array of that name.
  template <typename T>
  const T* Data(const std::string& name) const {
    return static_cast<const T*>(Raw(name));
  }
  const void* Raw(const std::string& name) const;
  const void* Raw(size_t array) const noexcept { return slab_.get() + (*arrays_)[array].offset; }
  // Returns the extent of the array's first dimension (ArrayRows).
  size_t Rows(size_t array) const noexcept;
  // Returns the size of these rows.
  size_t Bytes(size_t array) const noexcept;

  // False if an experiment (RequestMode(), recprobe gain) asked for this batch; it is then repeated
  // or synthetic.
  bool live() const noexcept { return live_; }
  // The block that the batch belongs to in a run of recprobe gain; otherwise nullopt.
  const std::optional<GainPlan::Block>& gain_block() const noexcept { return gain_block_; }

  // Per sample: ordinal of the record in the split; if the record was substituted, of its
  // substitute.
  const std::vector<uint64_t>& ids() const noexcept { return *ids_; }
  // Per sample: index of its view in the mixture, from 0.
  const std::vector<uint32_t>& views() const noexcept { return *views_; }
  // Per sample: 0 if it repeats another sample to fill the last batch (LastBatch::kPad), otherwise
  // 1.
  const std::vector<uint8_t>& mask() const noexcept { return *mask_; }

  // Token of the position after this batch, for LoaderOptions::resume.
  const std::string& token() const noexcept { return token_; }

 private:
  friend class BatchMaker;

  std::shared_ptr<void> hold_;  // returns the slab to the loader on destruction
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
