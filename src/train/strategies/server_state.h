// State of a parameter server: its variables, their keepers and the exchange between processes.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "src/train/strategies/buckets.h"
#include "src/train/strategies/parameter_server.h"

namespace recpack::train {

struct ParameterServer::Variable {
  size_t size = 0;
  bool decayed = true;
  Keeper* keeper = nullptr;  // null: in another process
  size_t bucket = 0;         // between processes
  DeviceArray value;         // in the keeper's memory, like the slots
  std::vector<DeviceArray> slots;
  // Per device, for a keeper with a stream: buffers that receive gradients.
  std::vector<DeviceArray> arrived_there;

  std::mutex mutex;
  std::condition_variable changed;
  bool kept = false;              // the keeper has started
  std::vector<float*> sent;       // per device: address in host memory; null: copied to the keeper
  std::vector<bool> full;         // per device: sent and not used yet
  std::vector<UpdateStep> steps;  // per device: of the gradient it sent
  size_t arrived = 0;
  uint64_t due = 0;  // number of updates that the sent gradients make
  // in host memory; if no device reads it there, the initial values only
  std::span<float> published;
  // Initial values; if another process keeps the variable, those that GatherSlots() got last.
  std::vector<std::vector<float>> slots_at_first;
  uint64_t updates = 0;
};

// A thread, and the variables whose gradients have arrived.
struct ParameterServer::Worker {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::pair<Variable*, size_t>> work;  // with the device, if updates are asynchronous
  bool ended = false;
  std::thread thread;
};

struct ParameterServer::Keeper : Worker {
  std::unique_ptr<Ops> ops;
  size_t elements = 0;  // number of elements kept

  bool on_device() const { return ops->Stream() != nullptr; }
};

struct ParameterServer::OwnedBucket : Bucket {
  int process = 0;           // that keeps the bucket's variables
  Keeper* keeper = nullptr;  // null: in another process
  size_t arrived = 0;        // variables whose gradients have arrived
};

// The one thread that calls the collective, and does the keepers' work.
struct ParameterServer::Exchange : Worker {
  std::vector<OwnedBucket> buckets;
  size_t next = 0;  // all processes exchange buckets in this order, over and over
};

}  // namespace recpack::train
