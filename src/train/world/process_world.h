// The processes of a training and all their towers, with the collectives that connect them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/train/collectives/collective.h"
#include "src/train/setup/make_ops.h"
#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// Towers are numbered process by process. Each process makes one object and calls it in the same
// order. Not thread-safe until the towers run.
class ProcessWorld {
 public:
  // Joins the processes; without `join`, this is the only one. `towers`: number in this process.
  ProcessWorld(const JoinProcesses& join, size_t towers);

  size_t rank() const noexcept { return rank_; }  // of this process
  size_t processes() const noexcept { return counts_.size(); }
  size_t first_tower() const noexcept { return first_; }  // number of this process's first tower
  size_t towers() const noexcept { return towers_; }      // in all processes
  // Number of each process's towers, in rank order.
  const std::vector<int>& counts() const noexcept { return counts_; }

  // This process among those of this machine that may run on the same processors.
  const ProcessorShare& processors() const noexcept { return processors_; }

  // Collectives for this process's towers: control (sums and barriers of all towers), batch
  // statistics, gradients. Call each once.
  std::vector<std::unique_ptr<Collective>> Control() const { return Towers(control_); }
  std::vector<std::unique_ptr<Collective>> Norms() const { return Towers(norms_); }
  std::vector<std::unique_ptr<Collective>> Exchange() const { return Towers(exchange_); }
  // Collective between processes only, instead of Exchange(); has one rank if there is one process.
  std::shared_ptr<Collective> ProcessExchange() const;

  // Gathers each process's text, in rank order. Collective.
  std::vector<std::string> GatherText(const std::string& text) const;

  // Runs `text` in the first process and broadcasts its result. Collective.
  std::string FromFirst(const std::function<std::string()>& text) const;

  // Checks that named values of this process equal the first process's. Throws Error
  // (kInvalidArgument) with the difference, in the process that differs. Collective.
  void CheckSame(const std::vector<std::pair<std::string, std::string>>& facts) const;

  // Ends the runs of the other processes, from any state and any thread.
  void Abort(const std::string& reason) const noexcept;

 private:
  std::vector<std::unique_ptr<Collective>> Towers(const std::shared_ptr<Collective>& between) const;

  std::shared_ptr<Collective> control_, norms_, exchange_;  // null: one process
  std::vector<int> counts_;                                 // number of towers per process
  size_t rank_ = 0, first_ = 0, towers_ = 0;
  ProcessorShare processors_;
};

}  // namespace recpack::train
