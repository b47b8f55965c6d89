#include "src/train/world/process_world.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "recpack/base/affinity.h"
#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/collectives/collective.h"
#include "src/train/collectives/machine.h"
#include "src/train/collectives/threads/tower_collectives.h"

namespace recpack::train {

namespace {

// Hash of the machine and of the processors that this process may run on.
uint64_t ProcessorsHash() {
  std::string text = BootId();
  try {
    for (const int processor : AllowedProcessors()) text += format(" {}", processor);
  } catch (const Error&) {  // use the machine only: the other processes wait for an answer
  }
  return std::hash<std::string>()(text);
}

ProcessorShare ShareProcessors(Collective& processes) {
  const auto hashes = GatherValues(processes, ProcessorsHash());
  const auto own = hashes.begin() + processes.rank();
  return {.rank = static_cast<int>(std::count(hashes.begin(), own, *own)),
          .size = static_cast<int>(std::count(hashes.begin(), hashes.end(), *own))};
}

}  // namespace

// Joins all collectives before anything can fail, so that waiting processes learn of the failure.
ProcessWorld::ProcessWorld(const JoinProcesses& join, size_t towers)
    : counts_(1, static_cast<int>(towers)), towers_(towers) {
  if (!join) return;
  control_ = join();
  if (control_->size() == 1) {
    control_.reset();
    return;
  }
  // A process that failed earlier joins here only to report it, and does not join again.
  const auto counts = GatherValues(*control_, towers);
  norms_ = join();
  exchange_ = join();
  processors_ = ShareProcessors(*control_);
  rank_ = static_cast<size_t>(control_->rank());
  counts_.clear();
  for (const uint64_t count : counts) counts_.push_back(static_cast<int>(count));
  const auto own = counts_.begin() + static_cast<ptrdiff_t>(rank_);
  first_ = static_cast<size_t>(std::accumulate(counts_.begin(), own, 0));
  towers_ = static_cast<size_t>(std::accumulate(own, counts_.end(), static_cast<int>(first_)));
}

std::vector<std::unique_ptr<Collective>> ProcessWorld::Towers(
    const std::shared_ptr<Collective>& between) const {
  return between ? TowerCollectives(between, counts_) : LocalCollectives(counts_[0]);
}

std::shared_ptr<Collective> ProcessWorld::ProcessExchange() const {
  return exchange_ ? exchange_ : std::move(LocalCollectives(1)[0]);
}

std::vector<std::string> ProcessWorld::GatherText(const std::string& text) const {
  if (!control_) return {text};
  const auto sizes = GatherValues(*control_, text.size());
  const size_t longest = *std::max_element(sizes.begin(), sizes.end());
  std::string own = text, all(longest * sizes.size(), '\0');
  own.resize(longest);
  control_->AllGather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
  std::vector<std::string> texts;
  texts.reserve(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) texts.push_back(all.substr(i * longest, sizes[i]));
  return texts;
}

std::string ProcessWorld::FromFirst(const std::function<std::string()>& text) const {
  if (!control_) return text();
  std::string result = rank_ == 0 ? text() : "";
  result.resize(GatherValues(*control_, result.size())[0]);
  control_->Broadcast(std::as_writable_bytes(std::span(result)), 0);
  return result;
}

void ProcessWorld::CheckSame(const std::vector<std::pair<std::string, std::string>>& facts) const {
  for (const auto& [name, value] : facts) {
    const std::string first = FromFirst([&value = value] { return value; });
    if (first == value) continue;
    throw Error(ErrorKind::kInvalidArgument,
                format("{}: {} at rank {}, {} at rank 0", name, value, rank_, first), {},
                "start all processes with the same options, on the same data");
  }
}

void ProcessWorld::Abort(const std::string& reason) const noexcept {
  for (const auto& collective : {control_, norms_, exchange_}) {
    if (collective) collective->Abort(reason);
  }
}

}  // namespace recpack::train
