// Calls of user functions in worker processes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "python/calls/running_calls.h"
#include "python/calls/worker_process.h"
#include "recpack/loader/batch_step.h"
#include "recpack/loader/function_field.h"

namespace recpack::python {

// A function, which processes identify by its number.
struct ProcessFunction {
  uint64_t number;
  std::string name;
  SharedCalls running;
};

// Thread-safe: each call uses an idle process.
class WorkerProcesses {
 public:
  // Per process: socket, memory and id. Takes ownership of the first two.
  explicit WorkerProcesses(const std::vector<std::tuple<int, int, int>>& processes);

  // Call without the GIL. Throw Error: the function's exception, nested; and as
  // WorkerProcess::Call().
  void Call(const ProcessFunction& function, const std::vector<ArraySpec>& arrays,
            SampleView& sample);
  // For a batch in ProcessSlabs().
  void Call(const ProcessFunction& function, BatchView& batch);

  // Thread-safe. Ends calls with an error and tells the processes to end.
  void Stop() noexcept;

 private:
  class Lent;

  WorkerProcess& Take();
  void Return(WorkerProcess& process);

  std::vector<std::unique_ptr<WorkerProcess>> processes_;
  std::mutex mutex_;  // guards `idle_`
  std::condition_variable returned_;
  std::vector<WorkerProcess*> idle_;
};

}  // namespace recpack::python
