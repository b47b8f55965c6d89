#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <vector>

#include "src/train/collectives/collective_failure.h"
#include "src/train/collectives/ordered_sum.h"
#include "src/train/collectives/transport.h"

namespace recpack::train {
namespace {

// Large arrays are sent in blocks: this bounds memory, and a received block is still in the cache
// when it is summed.
constexpr size_t kBlockFloats = size_t{1} << 20;
constexpr size_t kBlockBytes = size_t{16} << 20;

// What each rank tells all others before a call, to check that the calls agree.
struct Announcement {
  uint64_t count = 0;
  int32_t root = 0;
  uint32_t op = 0;
};

const std::byte* Bytes(const void* data) { return static_cast<const std::byte*>(data); }
std::byte* Bytes(void* data) { return static_cast<std::byte*>(data); }

class OverMessages final : public Collective {
 public:
  OverMessages(std::unique_ptr<Transport> transport, const CollectiveOptions& options)
      : Collective(transport->rank(), transport->size()),
        transport_(std::move(transport)),
        timeout_(options.connect_timeout),
        parcels_(Ranks()),
        announced_(Ranks()),
        received_(Ranks()),
        ins_(Ranks()) {
    all_ = {.ranks = std::vector<size_t>(Ranks()), .place = Rank()};
    std::iota(all_.ranks.begin(), all_.ranks.end(), size_t{0});
    Agree();  // no rank continues before all have arrived
    FindLevels(options.machine);
    timeout_ = options.timeout;
  }

  void Abort(const std::string& reason) noexcept override {
    transport_->Fail(AbortError(rank(), reason));
  }
  void Check() override { transport_->Check(); }

 private:
  // Ranks that sum or share an array, in order, and the place of this one among them.
  struct Group {
    std::vector<size_t> ranks;
    size_t place = 0;

    size_t size() const noexcept { return ranks.size(); }
    Slice SliceOf(size_t which, size_t count) const noexcept {
      return RankSlice(count, static_cast<int>(which), static_cast<int>(size()));
    }
  };

  size_t Ranks() const noexcept { return static_cast<size_t>(size()); }
  size_t Rank() const noexcept { return static_cast<size_t>(rank()); }

  void Run(const CollectiveCall& call, DeviceStream) override {
    call_ = call;
    Agree();
    switch (call.op) {
      case CollectiveOp::kAllReduce:
        return AllReduceBlocks();
      case CollectiveOp::kReduce:
        return ReduceBlocks();
      case CollectiveOp::kReduceScatter:
        return ReduceScatterBlocks();
      case CollectiveOp::kBroadcast:
        return BroadcastBlocks();
      case CollectiveOp::kAllGather:
        return AllGatherBlocks();
      case CollectiveOp::kBarrier:
        return;
    }
  }

  // Sends `mine` to all ranks, and sets `all` to theirs.
  template <typename T>
  void Tell(const T& mine, std::vector<T>& all) {
    for (size_t other = 0; other < Ranks(); ++other) {
      parcels_[other] = {Bytes(&mine), sizeof mine, Bytes(&all[other]), sizeof mine};
    }
    all[Rank()] = mine;
    Move();
  }

  void Agree() {
    const Announcement mine{call_.count, call_.root, static_cast<uint32_t>(call_.op)};
    Tell(mine, announced_);
    const CollectiveCall first = Announced(0);
    for (int other = 1; other < size(); ++other) {
      const CollectiveCall second = Announced(other);
      if (SameCall(first, second)) continue;
      const Error error = MismatchError(0, first, other, second);
      transport_->Fail(error);
      throw Error(error);
    }
  }

  CollectiveCall Announced(int rank) const {
    const Announcement& that = announced_[static_cast<size_t>(rank)];
    return {.op = static_cast<CollectiveOp>(that.op),
            .count = static_cast<size_t>(that.count),
            .root = that.root};
  }

  // Tells the machines of all ranks; sets the groups of two levels where there are two.
  void FindLevels(uint64_t machine) {
    std::vector<uint64_t> machines(Ranks());
    Tell(machine, machines);
    std::vector<uint64_t> order;  // of the machines, by their first ranks
    std::map<uint64_t, std::vector<size_t>> ranks;
    for (size_t rank = 0; rank < Ranks(); ++rank) {
      if (ranks[machines[rank]].empty()) order.push_back(machines[rank]);
      ranks[machines[rank]].push_back(rank);
    }
    const std::vector<size_t>& here = ranks[machine];
    const bool even = std::ranges::all_of(
        ranks, [&](const auto& each) { return each.second.size() == here.size(); });
    if (ranks.contains(0) || !even || order.size() == 1 || here.size() == 1) return;
    within_ = {.ranks = here};
    within_.place = static_cast<size_t>(std::ranges::find(here, Rank()) - here.begin());
    for (const uint64_t each : order) between_.ranks.push_back(ranks[each][within_.place]);
    between_.place = static_cast<size_t>(std::ranges::find(order, machine) - order.begin());
  }

  void AllReduceBlocks() {
    for (size_t begin = 0; begin < call_.count; begin += kBlockFloats) {
      const size_t count = std::min(kBlockFloats, call_.count - begin);
      float* const block = Out() + begin;
      if (within_.ranks.empty()) {
        SumSlices(all_, block, count);
        ShareSums(all_, block, count);
        continue;
      }
      SumSlices(within_, block, count);
      const Slice mine = within_.SliceOf(within_.place, count);
      SumSlices(between_, block + mine.begin, mine.count);
      ShareSums(between_, block + mine.begin, mine.count);
      ShareSums(within_, block, count);
    }
  }

  // Sets this rank's slice of `block` to the sum over the group.
  void SumSlices(const Group& group, float* block, size_t count) {
    const auto slices = [&](size_t place) { return group.SliceOf(place, count); };
    SumOfParts(
        group, [&](size_t place) { return block + slices(place).begin; }, slices,
        block + slices(group.place).begin);
  }

  void ShareSums(const Group& group, float* block, size_t count) {
    ShareSlices(group, Bytes(block), [&](size_t place) {
      const Slice slice = group.SliceOf(place, count);
      return Slice{slice.begin * sizeof(float), slice.count * sizeof(float)};
    });
  }

  void ReduceBlocks() {
    const auto root = static_cast<size_t>(call_.root);
    for (size_t begin = 0; begin < call_.count; begin += kBlockFloats) {
      const size_t count = std::min(kBlockFloats, call_.count - begin);
      float* block = Out() + begin;
      const auto slices = [&](size_t other) {
        return RankSlice(count, static_cast<int>(other), size());
      };
      const Slice mine = slices(Rank());
      if (sum_.size() < mine.count) sum_.resize(mine.count);
      float* sum = Rank() == root ? block + mine.begin : sum_.data();
      SumOfParts(
          all_, [&](size_t other) { return block + slices(other).begin; }, slices, sum);
      Clear();
      if (Rank() == root) {
        for (size_t other = 0; other < Ranks(); ++other) {
          Receive(other, block + slices(other).begin, slices(other).count * sizeof(float));
        }
      } else {
        Send(root, sum, mine.count * sizeof(float));
      }
      Move();
    }
  }

  void ReduceScatterBlocks() {
    const float* all = static_cast<const float*>(call_.in);
    const size_t most = std::max(kBlockFloats / Ranks(), size_t{1});
    for (size_t begin = 0; begin < call_.count; begin += most) {
      const Slice block{begin, std::min(most, call_.count - begin)};
      SumOfParts(
          all_, [&](size_t other) { return all + other * call_.count + begin; },
          [&](size_t) { return block; }, Out() + begin);
    }
  }

  void BroadcastBlocks() {
    std::byte* data = Bytes(call_.out);
    const auto root = static_cast<size_t>(call_.root);
    for (size_t begin = 0; begin < call_.count; begin += kBlockBytes) {
      const size_t count = std::min(kBlockBytes, call_.count - begin);
      std::byte* block = data + begin;
      const auto slices = [&](size_t other) {
        return RankSlice(count, static_cast<int>(other), size());
      };
      Clear();
      if (Rank() == root) {
        for (size_t other = 0; other < Ranks(); ++other) {
          Send(other, block + slices(other).begin, slices(other).count);
        }
      } else {
        Receive(root, block + slices(Rank()).begin, slices(Rank()).count);
      }
      Move();
      ShareSlices(all_, block, slices);
    }
  }

  void AllGatherBlocks() {
    const std::byte* part = Bytes(call_.in);
    std::byte* all = Bytes(call_.out);
    std::byte* mine = all + Rank() * call_.count;
    if (part != mine && call_.count > 0) std::memcpy(mine, part, call_.count);
    for (size_t begin = 0; begin < call_.count; begin += kBlockBytes) {
      const size_t count = std::min(kBlockBytes, call_.count - begin);
      ShareSlices(all_, all, [&](size_t other) {
        return Slice{other * call_.count + begin, count};
      });
    }
  }

  // Every rank of the group sends `part(k)`, of slices(k).count floats, to that in place k. The
  // received parts, and this rank's own, are summed in order into `sum`.
  template <typename Part, typename Slices>
  void SumOfParts(const Group& group, const Part& part, const Slices& slices, float* sum) {
    const size_t count = slices(group.place).count;
    Clear();
    for (size_t place = 0; place < group.size(); ++place) {
      ins_[place] = part(group.place);
      if (place == group.place) continue;
      if (received_[place].size() < count) received_[place].resize(count);
      ins_[place] = received_[place].data();
      Send(group.ranks[place], part(place), slices(place).count * sizeof(float));
      Receive(group.ranks[place], received_[place].data(), count * sizeof(float));
    }
    Move();
    SumInOrder(std::span(ins_).first(group.size()), std::span(&sum, 1), count);
  }

  // Every rank of the group sends its own slice of an array to the others.
  template <typename Slices>
  void ShareSlices(const Group& group, std::byte* array, const Slices& slices) {
    Clear();
    const Slice mine = slices(group.place);
    for (size_t place = 0; place < group.size(); ++place) {
      if (place == group.place) continue;
      Send(group.ranks[place], array + mine.begin, mine.count);
      Receive(group.ranks[place], array + slices(place).begin, slices(place).count);
    }
    Move();
  }

  void Clear() noexcept { parcels_.assign(Ranks(), {}); }
  void Send(size_t to, const void* data, size_t bytes) noexcept {
    parcels_[to].send = Bytes(data);
    parcels_[to].send_bytes = bytes;
  }
  void Receive(size_t from, void* data, size_t bytes) noexcept {
    parcels_[from].receive = Bytes(data);
    parcels_[from].receive_bytes = bytes;
  }
  void Move() { transport_->Move(parcels_, call_, timeout_); }

  float* Out() const noexcept { return static_cast<float*>(call_.out); }

  const std::unique_ptr<Transport> transport_;
  std::chrono::milliseconds timeout_;
  CollectiveCall call_;
  Group all_;
  Group within_,
      between_;  // this machine's ranks, and those in this place of each; empty: no levels
  std::vector<Parcel> parcels_;
  std::vector<Announcement> announced_;
  std::vector<std::vector<float>> received_;  // by place in a group, for one block
  std::vector<float> sum_;
  std::vector<const float*> ins_;
};

}  // namespace

std::unique_ptr<Collective> MessageCollective(std::unique_ptr<Transport> transport,
                                              const CollectiveOptions& options) {
  return std::make_unique<OverMessages>(std::move(transport), options);
}

}  // namespace recpack::train
