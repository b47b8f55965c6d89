// The processes of a training, and all their towers.
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

// Towers are numbered process by process. All processes make one, and use it alike. Until the
// towers run, one thread.
class ProcessWorld {
 public:
  // Joins the processes; `join` empty: there is this one alone. `towers`: of this process.
  ProcessWorld(const JoinProcesses& join, size_t towers);

  size_t rank() const noexcept { return rank_; }  // of this process
  size_t processes() const noexcept { return counts_.size(); }
  size_t first_tower() const noexcept { return first_; }  // the number of this process's first one
  size_t towers() const noexcept { return towers_; }      // of all processes

  // Among those of this machine that may run on the same processors as this one.
  const ProcessorShare& processors() const noexcept { return processors_; }

  // For this process's towers: sums and barriers of all towers, batch statistics, gradients.
  // Each once.
  std::vector<std::unique_ptr<Collective>> Control() const { return Towers(control_); }
  std::vector<std::unique_ptr<Collective>> Norms() const { return Towers(norms_); }
  std::vector<std::unique_ptr<Collective>> Exchange() const { return Towers(exchange_); }
  // Between processes alone, in the place of Exchange(); of one rank where there is one process.
  std::shared_ptr<Collective> ProcessExchange() const;

  // What each process says, in their order. All call it at once.
  std::vector<std::string> OfAll(const std::string& text) const;

  // What the first process makes of it.
  std::string FromFirst(const std::function<std::string()>& text) const;

  // What of this process's run has to be as that of the first, by name. Throws Error
  // (kInvalidArgument) with what differs, at the process where it does.
  void CheckSame(const std::vector<std::pair<std::string, std::string>>& facts) const;

  // Ends the others' runs, from wherever they are.
  void Abort(const std::string& reason) const noexcept;

 private:
  std::vector<std::unique_ptr<Collective>> Towers(const std::shared_ptr<Collective>& between) const;

  std::shared_ptr<Collective> control_, norms_, exchange_;  // null: one process
  std::vector<int> counts_;                                 // of towers, by process
  size_t rank_ = 0, first_ = 0, towers_ = 0;
  ProcessorShare processors_;
};

}  // namespace recpack::train
