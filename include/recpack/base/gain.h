// A run that is only an experiment: `recprobe gain` has a training get batches of several kinds in
// turn. docs/gain.md has the method.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace recpack {

// Which kind of batches a training gets at which step: a pure function of the seed, so that all
// processes of a training change at the same one. The first block is live and warms up; behind it
// come rounds of a block of each kind, in an order of each round's own.
class GainPlan {
 public:
  static constexpr uint32_t kKinds = 4;
  static constexpr char kVariable[] = "RECPACK_GAIN";

  struct Block {
    uint64_t number = 0;  // 0: the first one, behind it kKinds a round
    uint32_t kind = 0;    // as LoaderMode counts (recpack/loader/stats.h); 0: live
  };

  // `block_steps`: at least kFewestSteps.
  static constexpr uint32_t kFewestSteps = 8;
  GainPlan(uint64_t seed, uint32_t block_steps);

  // What the environment asks for, "SEED:STEPS"; nothing where it does not. Throws Error
  // (kInvalidArgument) where it makes no sense.
  static std::optional<GainPlan> FromEnvironment();
  // For the environment of a program.
  std::string Text() const;

  Block At(uint64_t step) const noexcept;
  uint32_t block_steps() const noexcept { return block_steps_; }

 private:
  uint64_t seed_;
  uint32_t block_steps_;
};

// Whether this process was started for such an experiment: what it trains is worth nothing.
bool IsGainRun() noexcept;

// What is told of a batch that a training takes in such a run: the name of an event of no length
// (EventKind::kRange), whose value is the block's number.
struct GainMark {
  static constexpr uint32_t kEndOfEpoch = GainPlan::kKinds;  // no batch

  uint32_t kind = 0;
  uint32_t loader = 0;      // its number in the process
  uint32_t batch_size = 0;  // samples

  std::string Name() const;
  // Nothing where the name is another event's.
  static std::optional<GainMark> Parse(std::string_view name);

  // Tells of the batch, which is taken now; nothing happens where nobody watches. `device`: that
  // it is for, as EventLog has it.
  void Tell(uint64_t block, uint16_t device) const;
};

}  // namespace recpack
