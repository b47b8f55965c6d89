// Schedule of a gain experiment: `recprobe gain` runs a training with batches of several kinds in
// turn (docs/reference/gain.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace recpack {

// Maps each step to a kind of batches. A pure function of the seed, so that all processes of a
// training switch at the same step. The first block is live, for warm-up; rounds follow, each with
// one block of each kind, shuffled per round.
class GainPlan {
 public:
  static constexpr uint32_t kKinds = 4;
  static constexpr char kVariable[] = "RECPACK_GAIN";

  struct Block {
    uint64_t number = 0;  // 0: warm-up; then kKinds blocks per round
    uint32_t kind = 0;    // LoaderMode (recpack/loader/stats.h); 0: live
  };

  // `block_steps`: at least kFewestSteps.
  static constexpr uint32_t kFewestSteps = 8;
  GainPlan(uint64_t seed, uint32_t block_steps);

  // Reads "SEED:STEPS" from the environment variable; nullopt if it is not set. Throws Error
  // (kInvalidArgument) if it is malformed.
  static std::optional<GainPlan> FromEnvironment();
  // Returns the value for the environment variable.
  std::string Text() const;

  Block At(uint64_t step) const noexcept;
  uint32_t block_steps() const noexcept { return block_steps_; }

 private:
  uint64_t seed_;
  uint32_t block_steps_;
};

// Tells whether this process runs a gain experiment: the model that it trains is useless then.
bool IsGainRun() noexcept;

// Marks a batch that the training takes in a gain run. It is encoded in the name of a zero-length
// event (EventKind::kRange) whose value is the block number.
struct GainMark {
  static constexpr uint32_t kEndOfEpoch = GainPlan::kKinds;  // end of the epoch, not a batch

  uint32_t kind = 0;
  uint32_t loader = 0;      // its number in the process
  uint32_t batch_size = 0;  // samples

  std::string Name() const;
  // Returns nullopt if the name is not that of a gain mark.
  static std::optional<GainMark> Parse(std::string_view name);

  // Writes the mark to the event log, with the current time. Does nothing without a log. `device`:
  // the device the batch is for, as in Event.
  void Tell(uint64_t block, uint16_t device) const;
};

}  // namespace recpack
