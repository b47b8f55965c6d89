// Timed steps as JSON: of a training's inputs and of a sweep alike.
#pragma once

#include "src/train/setup/step_timing.h"

namespace recpack::tool {

template <typename Json>
Json TimingJson(const train::StepTiming& timing) {
  return {{"samples_per_s", timing.samples_per_second},
          {"step_seconds", timing.step_seconds},
          {"input_wait_seconds", timing.input_wait_seconds},
          {"exchange_wait_seconds", timing.exchange_wait_seconds},
          {"exchange_bytes", timing.exchange_bytes}};
}

}  // namespace recpack::tool
