// Input of a planted trainer, with the cause planted in it.
#pragma once

#include <memory>
#include <string>

#include "bench/probe/planted_case.h"

namespace recpack::bench {

// Input of all ranks. Each rank calls from its own thread.
class PlantedInput {
 public:
  virtual ~PlantedInput() = default;

  // Waits for the rank's next batch. Continues past the ends of epochs.
  virtual void Take(uint32_t rank) = 0;
};

// Reads the shards in `data`. Uses one feeder for all ranks; if one rank's input differs, a loader
// per rank. Throws Error.
std::unique_ptr<PlantedInput> MakeInput(const std::string& data, const Case& planted);

}  // namespace recpack::bench
