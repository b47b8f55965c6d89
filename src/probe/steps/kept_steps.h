// Steps of a trainer that trains for any time, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/probe/steps/steps.h"

namespace recpack::probe {

// Keeps all steps until there are kMost. Then it keeps every second block of steps, then every
// fourth, and so on, besides the latest steps. Blocks go by the program's step numbers, so that
// ranks keep the same steps. Not thread-safe.
class KeptSteps {
 public:
  static constexpr size_t kMost = 65'536;
  static constexpr size_t kLatest = 40'000;
  static constexpr uint64_t kBlock = 256;

  explicit KeptSteps(const TrainerSteps& trainer);

  // Adds the steps that end after the last one, and what else is known of the trainer by now.
  void Append(const TrainerSteps& more);

  // The latest steps, with those of `more` that would be appended (nullptr: none): at most `most`,
  // without gaps if that is not beyond kLatest.
  TrainerSteps Latest(size_t most, const TrainerSteps* more = nullptr) const;
  const TrainerSteps& trainer() const noexcept { return whole_; }

 private:
  std::vector<StepRecord> New(const TrainerSteps& more) const;
  void Add(const StepRecord& step);
  bool Keeps(uint64_t number) const noexcept { return number / kBlock % stride_ == 0; }
  void Thin();

  TrainerSteps whole_;
  std::vector<StepRecord> latest_;  // only if some are not in `whole_`
  uint64_t stride_ = 1;             // of blocks
  int64_t end_ = INT64_MIN;         // of the last step
  uint64_t next_ = 0;               // number after the last step's
};

}  // namespace recpack::probe
