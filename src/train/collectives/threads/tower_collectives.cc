#include "src/train/collectives/threads/tower_collectives.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <utility>

#include "src/train/collectives/collective.h"
#include "src/train/collectives/threads/first_failure.h"

namespace recpack::train {
namespace {

// Shared by the threads of a process.
struct Shared {
  Shared(std::shared_ptr<Collective> between, std::vector<int> of_processes)
      : processes(std::move(between)),
        counts(std::move(of_processes)),
        first(std::accumulate(counts.begin(), counts.begin() + processes->rank(), 0)) {}

  const std::shared_ptr<Collective> processes;
  const std::vector<int> counts;
  const int first;       // rank of this process's first thread
  FirstFailure failure;  // of calls between processes
};

class TowerCollective final : public Collective {
 public:
  TowerCollective(std::shared_ptr<Shared> shared, std::unique_ptr<Collective> local)
      : Collective(shared->first + local->rank(),
                   std::accumulate(shared->counts.begin(), shared->counts.end(), 0)),
        shared_(std::move(shared)),
        local_(std::move(local)) {}

  void Abort(const std::string& reason) noexcept override {
    shared_->processes->Abort(reason);
    local_->Abort(reason);
  }
  void Check() override {
    shared_->processes->Check();
    local_->Check();
  }

 private:
  // Errors are reported in terms of all processes' ranks, also by threads that only learn of them.
  void Run(const CollectiveCall& call, DeviceStream) override {
    try {
      Do(call);
    } catch (...) {
      shared_->failure.ThrowIfSet();
      shared_->processes->Check();
      throw;
    }
  }

  void Do(const CollectiveCall& call) {
    const std::span<float> floats(static_cast<float*>(call.out), call.count);
    switch (call.op) {
      case CollectiveOp::kAllReduce:
        return Sum(floats);
      case CollectiveOp::kReduce:
        return SumAt(call.root, floats);
      case CollectiveOp::kReduceScatter: {
        const auto* all = static_cast<const float*>(call.in);
        sum_.assign(all, all + call.count * static_cast<size_t>(size()));
        Sum(sum_);
        const float* part = sum_.data() + call.count * static_cast<size_t>(rank());
        std::copy(part, part + call.count, floats.begin());
        return;
      }
      case CollectiveOp::kBroadcast:
        return Share({static_cast<std::byte*>(call.out), call.count}, call.root);
      case CollectiveOp::kAllGather:
        return Gather(call);
      case CollectiveOp::kBarrier:
        local_->Barrier();
        Between([](Collective& processes) { processes.Barrier(); });
        return local_->Barrier();
    }
  }

  // Runs on one thread. The others wait for it in their next local call.
  template <typename Call>
  void Between(Call call) {
    if (local_->rank() > 0) return;
    try {
      call(*shared_->processes);
    } catch (const std::exception& error) {
      shared_->failure.Set(std::current_exception());
      local_->Abort(error.what());
      throw;
    }
  }

  void Sum(std::span<float> data) {
    local_->Reduce(data, 0);
    Between([&](Collective& processes) { processes.AllReduce(data); });
    local_->Broadcast(std::as_writable_bytes(data), 0);
  }

  void SumAt(int root, std::span<float> data) {
    sum_.assign(data.begin(), data.end());
    const int process = ProcessAndTower(root).first;
    local_->Reduce(sum_, 0);
    Between([&](Collective& processes) { processes.Reduce(sum_, process); });
    if (process != shared_->processes->rank()) return;
    local_->Broadcast(std::as_writable_bytes(std::span(sum_)), 0);
    if (rank() == root) std::copy(sum_.begin(), sum_.end(), data.begin());
  }

  // The process, and the thread number within it.
  std::pair<int, int> ProcessAndTower(int rank) const {
    int process = 0;
    while (rank >= shared_->counts[static_cast<size_t>(process)]) {
      rank -= shared_->counts[static_cast<size_t>(process++)];
    }
    return {process, rank};
  }

  void Share(std::span<std::byte> data, int root) {
    const int process = ProcessAndTower(root).first;
    const bool here = process == shared_->processes->rank();
    if (here) local_->Broadcast(data, ProcessAndTower(root).second);
    Between([&](Collective& processes) { processes.Broadcast(data, process); });
    if (!here) local_->Broadcast(data, 0);
  }

  // Processes with fewer threads than others pad their data.
  void Gather(const CollectiveCall& call) {
    const std::span all(static_cast<std::byte*>(call.out),
                        call.count * static_cast<size_t>(size()));
    const std::span mine = all.subspan(call.count * static_cast<size_t>(shared_->first),
                                       call.count * static_cast<size_t>(local_->size()));
    local_->AllGather({static_cast<const std::byte*>(call.in), call.count}, mine);
    Between([&](Collective& processes) {
      const auto& counts = shared_->counts;
      const auto most = static_cast<size_t>(*std::max_element(counts.begin(), counts.end()));
      const size_t padded = call.count * most;
      gathered_.resize(padded * counts.size());
      std::byte* own = gathered_.data() + padded * static_cast<size_t>(processes.rank());
      std::copy(mine.begin(), mine.end(), own);
      processes.AllGather({own, padded}, gathered_);
      auto to = all.begin();
      for (size_t i = 0; i < counts.size(); ++i) {
        const size_t bytes = call.count * static_cast<size_t>(counts[i]);
        to = std::copy_n(gathered_.begin() + static_cast<ptrdiff_t>(padded * i), bytes, to);
      }
    });
    local_->Broadcast(all, 0);
  }

  const std::shared_ptr<Shared> shared_;
  const std::unique_ptr<Collective> local_;
  std::vector<float> sum_;
  std::vector<std::byte> gathered_;
};

}  // namespace

std::vector<std::unique_ptr<Collective>> TowerCollectives(std::shared_ptr<Collective> processes,
                                                          const std::vector<int>& counts) {
  const auto own = static_cast<size_t>(processes->rank());
  const auto shared = std::make_shared<Shared>(std::move(processes), counts);
  std::vector<std::unique_ptr<Collective>> collectives;
  for (auto& local : LocalCollectives(counts[own])) {
    collectives.push_back(std::make_unique<TowerCollective>(shared, std::move(local)));
  }
  return collectives;
}

}  // namespace recpack::train
