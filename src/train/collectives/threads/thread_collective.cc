#include <algorithm>
#include <cstring>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/collectives/collective.h"
#include "src/train/collectives/ordered_sum.h"
#include "src/train/collectives/threads/thread_group.h"

namespace recpack::train {
namespace {

class ThreadCollective final : public Collective {
 public:
  ThreadCollective(int rank, std::shared_ptr<ThreadGroup> group)
      : Collective(rank, group->size()),
        group_(std::move(group)),
        ins_(static_cast<size_t>(size())) {
    outs_.reserve(ins_.size());
  }
  ~ThreadCollective() override { group_->Leave(rank()); }

  void Abort(const std::string& reason) noexcept override { group_->Abort(rank(), reason); }
  void Check() override { group_->Check(); }

 private:
  void Run(const CollectiveCall& call, DeviceStream) override {
    group_->Meet(rank(), call);
    if (call.op == CollectiveOp::kBarrier) return;
    DoShare(call);
    group_->Part();
  }

  // Does this rank's share of a call, with the arrays of all ranks.
  void DoShare(const CollectiveCall& call) noexcept {
    switch (call.op) {
      case CollectiveOp::kAllReduce:
        return Sum(RankSlice(call.count, rank(), size()), 0, size());
      case CollectiveOp::kReduce:
        return Sum(RankSlice(call.count, rank(), size()), call.root, call.root + 1);
      case CollectiveOp::kReduceScatter:
        return SumPart(call);
      case CollectiveOp::kBroadcast:
        return Copy(group_->call(call.root).in, call.out, call.count);
      case CollectiveOp::kAllGather:
        for (int other = 0; other < size(); ++other) {
          Copy(group_->call(other).in,
               static_cast<std::byte*>(call.out) + static_cast<size_t>(other) * call.count,
               call.count);
        }
        return;
      case CollectiveOp::kBarrier:
        return;
    }
  }

  // Sums a slice of all arrays into those of the ranks from `first` up to `last`.
  void Sum(Slice slice, int first, int last) noexcept {
    SetIns(slice.begin);
    outs_.clear();
    for (int other = first; other < last; ++other) {
      outs_.push_back(static_cast<float*>(group_->call(other).out) + slice.begin);
    }
    SumInOrder(ins_, outs_, slice.count);
  }

  void SumPart(const CollectiveCall& call) noexcept {
    SetIns(static_cast<size_t>(rank()) * call.count);
    outs_.assign(1, static_cast<float*>(call.out));
    SumInOrder(ins_, outs_, call.count);
  }

  void SetIns(size_t begin) noexcept {
    for (int other = 0; other < size(); ++other) {
      ins_[static_cast<size_t>(other)] = static_cast<const float*>(group_->call(other).in) + begin;
    }
  }

  static void Copy(const void* from, void* to, size_t bytes) noexcept {
    if (from != to && bytes > 0) std::memcpy(to, from, bytes);
  }

  const std::shared_ptr<ThreadGroup> group_;
  std::vector<const float*> ins_;
  std::vector<float*> outs_;
};

}  // namespace

std::vector<std::unique_ptr<Collective>> ThreadCollectives(int ranks,
                                                           const CollectiveOptions& options) {
  if (ranks < 1) {
    throw Error(ErrorKind::kInvalidArgument, format("{} ranks: expected at least 1", ranks));
  }
  const auto group = std::make_shared<ThreadGroup>(ranks, options);
  std::vector<std::unique_ptr<Collective>> collectives;
  collectives.reserve(static_cast<size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    collectives.push_back(std::make_unique<ThreadCollective>(rank, group));
  }
  return collectives;
}

}  // namespace recpack::train
