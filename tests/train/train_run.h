// Runs trainings of tests to their end.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "src/train/run/trainer.h"
#include "tests/base/temporary_folder.h"

namespace recpack::train {

struct Ran {
  std::vector<double> losses;
  std::vector<EpochReport> epochs;
};

inline Ran Train(const TrainerOptions& options) {
  Ran ran;
  Trainer trainer(options);
  trainer.Run([&](const EpochReport& report) { ran.epochs.push_back(report); });
  ran.losses = trainer.losses();
  return ran;
}

// Trains `first` for an epoch and continues with `rest`; compares with two epochs of `whole`.
inline void ExpectResumes(TrainerOptions first, TrainerOptions rest, const Ran& whole) {
  const TemporaryFolder folder;
  first.checkpoints = rest.resume = folder.path();
  const auto half = static_cast<ptrdiff_t>(whole.losses.size() / 2);
  first.max_steps = half;
  Train(first);
  const Ran resumed = Train(rest);
  EXPECT_EQ(resumed.losses, std::vector(whole.losses.begin() + half, whole.losses.end()));
  EXPECT_EQ(resumed.epochs.back().evaluation.loss, whole.epochs.back().evaluation.loss);
}

// The error of a training; empty: it succeeds.
inline std::string MessageOf(const TrainerOptions& options) {
  try {
    Train(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// The same losses, bit for bit, in training and evaluation.
inline void ExpectSameTraining(const Ran& seen, const Ran& expected) {
  EXPECT_EQ(seen.losses, expected.losses);
  ASSERT_EQ(seen.epochs.size(), expected.epochs.size());
  for (size_t i = 0; i < seen.epochs.size(); ++i) {
    EXPECT_EQ(seen.epochs[i].evaluation.loss, expected.epochs[i].evaluation.loss);
  }
}

}  // namespace recpack::train
