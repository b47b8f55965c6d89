// Trainings of tests, run to their end.
#pragma once

#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/train/trainer.h"

namespace recpack {

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

// What a training fails with; empty: it does not.
inline std::string MessageOf(const TrainerOptions& options) {
  try {
    Train(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace recpack
