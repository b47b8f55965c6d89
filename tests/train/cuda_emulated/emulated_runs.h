// Small trainings on emulated devices.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/train/small_trainings.h"
#include "tests/train/train_run.h"

namespace recpack::train {

// Two GPUs, and two logical devices of one.
inline constexpr char kGpus[] = "cuda:0,cuda:1", kParts[] = "cuda:0/0,cuda:0/1";

inline TrainerOptions Pictures(const SmallCifar& data, const std::string& devices) {
  return SteadyPictures(data, devices, 4);
}

inline TrainerOptions Reviews(const SmallReviews& data, const std::string& devices) {
  return SmallReviewsTraining(data, devices);
}

// The faster image network, for one epoch.
inline TrainerOptions Short(const SmallCifar& data, const std::string& devices) {
  TrainerOptions options = Pictures(data, devices);
  options.model = "alexnet";
  options.alexnet = {.filters = 4, .dense = 32};
  options.epochs = 1;
  return options;
}

// Sums are in another order: within `tolerance`, relative for values above 1.
inline void ExpectAlmost(double seen, double expected, double tolerance) {
  EXPECT_TRUE(std::abs(seen - expected) <= tolerance * (1 + std::abs(expected)))
      << seen << " is not almost " << expected;
}

inline void ExpectAlmost(const Ran& seen, const Ran& expected, double tolerance) {
  ASSERT_EQ(seen.losses.size(), expected.losses.size());
  for (size_t i = 0; i < seen.losses.size(); ++i) {
    ExpectAlmost(seen.losses[i], expected.losses[i], tolerance);
  }
  ASSERT_EQ(seen.epochs.size(), expected.epochs.size());
  for (size_t i = 0; i < seen.epochs.size(); ++i) {
    EXPECT_EQ(seen.epochs[i].evaluation.samples, expected.epochs[i].evaluation.samples);
    ExpectAlmost(seen.epochs[i].evaluation.loss, expected.epochs[i].evaluation.loss, tolerance);
  }
}

}  // namespace recpack::train
