// Functions of the user, called in worker processes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "python/running_calls.h"
#include "python/worker_process.h"
#include "recpack/loader/batch_step.h"
#include "recpack/loader/function_field.h"

namespace recpack::python {

// A function that processes know by its number.
struct ProcessFunction {
  uint64_t number;
  std::string name;
  SharedCalls running;
};

// Any number of threads: each call takes a process that has nothing to do.
class WorkerProcesses {
 public:
  // Of each: its socket, its memory, and its id; the first two are owned from here on.
  explicit WorkerProcesses(const std::vector<std::tuple<int, int, int>>& processes);

  // Without the GIL. Throw Error: what the function raised, nested; what WorkerProcess::Call()
  // says.
  void Call(const ProcessFunction& function, const std::vector<ArraySpec>& arrays,
            SampleView& sample);
  // Of a batch in ProcessSlabs().
  void Call(const ProcessFunction& function, BatchView& batch);

  // Any thread: calls end with an error, and the processes are told to end.
  void Stop() noexcept;

 private:
  class Lent;

  WorkerProcess& Take();
  void Return(WorkerProcess& process);

  std::vector<std::unique_ptr<WorkerProcess>> processes_;
  std::mutex mutex_;  // of `idle_`
  std::condition_variable returned_;
  std::vector<WorkerProcess*> idle_;
};

}  // namespace recpack::python
