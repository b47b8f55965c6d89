// Advisor: announces the records of coming chunks to the storage.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "src/loader/order/sampler.h"
#include "src/loader/run/loader_plan.h"
#include "src/loader/run/read_ahead.h"

namespace recpack {

// Used by one worker's thread.
class Advisor {
 public:
  // `sources`: by view. All must outlive the advisor.
  Advisor(LoaderPlan& plan, Sampler& sampler,
          const std::vector<std::unique_ptr<SampleSource>>& sources);

  // Announces the chunk that is to be read some time after chunk `ticket`, before which the worker
  // calls this; with the first chunk, also everything up to there.
  void Advise(uint64_t ticket);

  // Says that Advise(ticket) failed or is not called: other workers wait for what the first chunk's
  // announces.
  void GiveUp(uint64_t ticket) noexcept {
    if (ticket == 0) BeginOthers(1);
  }

 private:
  void BeginOthers(uint64_t next_advice) noexcept;
  void AdviseFar(uint64_t ticket, uint64_t last);
  void OpenChunk(uint64_t chunk);
  bool AdviseChunk(uint64_t chunk);
  void AdviseFirstBatch();
  void ListRecords(uint64_t chunk, uint32_t step);
  bool AllInMemory() const;

  LoaderPlan& plan_;
  Sampler& sampler_;
  const std::vector<std::unique_ptr<SampleSource>>& sources_;
  const ReadAhead read_ahead_;
  std::vector<std::vector<uint64_t>> ids_;  // to be read soon, per view
  uint32_t unprobed_ = 0;                   // chunks left to skip without probing
  uint32_t probes_held_ = 0;                // consecutive probes that found everything in memory
};

}  // namespace recpack
