// Exchange of a parameter server between processes: sums go to a bucket's keeper, values to all.
#include <algorithm>
#include <exception>
#include <span>

#include "src/train/strategies/server_state.h"

namespace recpack::train {

// Buckets are assigned to the keepers of all processes, each to the one with the fewest elements.
void ParameterServer::DistributeBuckets(VariableList list, const Variables& variables) {
  struct Place {
    int process = 0;
    Keeper* keeper = nullptr;
    size_t elements = 0;
  };
  std::vector<Place> places;
  for (size_t process = 0; process < options_.keepers_by_process.size(); ++process) {
    const bool here = static_cast<int>(process) == options_.processes->rank();
    for (size_t i = 0; i < options_.keepers_by_process[process]; ++i) {
      places.push_back({static_cast<int>(process), here ? keepers_[i].get() : nullptr});
    }
  }
  for (Bucket& bucket : MakeBuckets(variables, options_.bucket_elements)) {
    Place& place = *std::min_element(places.begin(), places.end(),
                                     [](auto& a, auto& b) { return a.elements < b.elements; });
    place.elements += bucket.end - bucket.begin;
    for (const size_t variable : bucket.variables) {
      list[variable]->keeper = place.keeper;
      list[variable]->bucket = exchange_->buckets.size();
    }
    exchange_->buckets.push_back({std::move(bucket), place.process, place.keeper});
  }
}

void ParameterServer::RunExchange() {
  try {
    for (const auto& keeper : keepers_) Hold(*keeper);
    for (const auto& variable : variables_) {
      const std::lock_guard lock(variable->mutex);
      variable->kept = true;  // here or elsewhere
      variable->changed.notify_all();
    }
    std::unique_lock lock(exchange_->mutex);
    for (;;) {
      exchange_->changed.wait(lock, [&] { return exchange_->ended || !exchange_->work.empty(); });
      if (exchange_->work.empty()) return;
      const Variable& variable = *exchange_->work.front().first;
      exchange_->work.pop_front();
      lock.unlock();
      ++exchange_->buckets[variable.bucket].arrived;
      ExchangeWholeBuckets();
      lock.lock();
    }
  } catch (const std::exception& error) {
    Abort(error.what());
  }
}

void ParameterServer::ExchangeWholeBuckets() {
  for (;;) {
    OwnedBucket& bucket = exchange_->buckets[exchange_->next];
    if (bucket.arrived < bucket.variables.size()) return;
    bucket.arrived = 0;
    exchange_->next = (exchange_->next + 1) % exchange_->buckets.size();
    ExchangeBucket(bucket);
  }
}

// No device reads a value while all gradients of it are here: it has used the value for these.
void ParameterServer::ExchangeBucket(const OwnedBucket& bucket) {
  for (const size_t i : bucket.variables) SumInHost(*variables_[i], 0, options_.devices);
  const size_t count = bucket.end - bucket.begin;
  float* const sums = variables_[bucket.variables.back()]->sent[0];  // the one at bucket.begin
  options_.processes->Reduce({sums, count}, bucket.process);
  if (bucket.keeper) {
    Keeper& keeper = *bucket.keeper;
    keeper.ops->Attach();
    for (const size_t i : bucket.variables) UpdateFromHost(keeper, *variables_[i]);
  }
  const auto values = std::span(published_).subspan(bucket.begin, count);
  options_.processes->Broadcast(std::as_writable_bytes(values), bucket.process);
  for (const size_t i : bucket.variables) {
    Variable& variable = *variables_[i];
    {
      const std::lock_guard lock(variable.mutex);
      MarkUpdated(variable, 0);
    }
    variable.changed.notify_all();
  }
}

void ParameterServer::UpdateFromHost(Keeper& keeper, Variable& variable) {
  const float* gradient = variable.sent[0];
  if (keeper.on_device()) {
    const DeviceArray& there = variable.arrived_there[0];
    keeper.ops->Upload(there.data(), gradient, variable.size * sizeof(float));
    gradient = there.As<float>();
  }
  const std::lock_guard lock(variable.mutex);
  UpdateValue(keeper, variable, gradient, 0);
}

// The first process reads them; those that it keeps are there.
void ParameterServer::GatherSlots() {
  if (!exchange_) return;
  for (const OwnedBucket& bucket : exchange_->buckets) {
    if (bucket.process == 0) continue;
    for (const size_t i : bucket.variables) {
      Variable& variable = *variables_[i];
      for (size_t slot = 0; slot < variable.slots_at_first.size(); ++slot) {
        const std::span<float> values(variable.slots_at_first[slot]);
        if (bucket.keeper && variable.updates > 0) ReadSlot(slot, i, values.data());
        options_.processes->Broadcast(std::as_writable_bytes(values), bucket.process);
      }
    }
  }
}

}  // namespace recpack::train
