// Options of short trainings.
#pragma once

#include <string>

#include "src/train/run/trainer.h"
#include "tests/train/small_cifar.h"
#include "tests/train/small_reviews.h"

namespace recpack::train {

// resnet of `width`, for two epochs.
inline TrainerOptions SmallPictures(const SmallCifar& data, const std::string& devices = "cpu:0",
                                    int64_t width = 8) {
  TrainerOptions options;
  options.data = data.folder();
  options.resnet.width = width;
  options.devices = ParseDevices(devices);
  options.threads = 1;
  options.batch_size = 8;
  options.epochs = 2;
  options.seed = 3;
  return options;
}

// The same without warm-up, at a constant rate until it falls.
inline TrainerOptions SteadyPictures(const SmallCifar& data, const std::string& devices = "cpu:0",
                                     int64_t width = 8) {
  TrainerOptions options = SmallPictures(data, devices, width);
  options.warmup_epochs = 0;
  options.optimizer.rate = 0.02;
  return options;
}

// deepconn, for two epochs.
inline TrainerOptions SmallReviewsTraining(const SmallReviews& data, const std::string& devices) {
  TrainerOptions options;
  options.model = "deepconn";
  options.data = data.folder();
  options.deepconn = {.max_tokens = 32, .dims = 8, .filters = 8, .latent = 8, .factors = 4};
  options.devices = ParseDevices(devices);
  options.threads = 1;
  options.batch_size = 8;
  options.epochs = 2;
  options.seed = 3;
  return options;
}

}  // namespace recpack::train
