#include "src/train/collectives/collective.h"

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/ops/seconds.h"

namespace recpack::train {

bool SameCall(const CollectiveCall& a, const CollectiveCall& b) noexcept {
  return a.op == b.op && a.count == b.count && a.root == b.root;
}

std::string CallText(const CollectiveCall& call) {
  switch (call.op) {
    case CollectiveOp::kAllReduce:
      return format("AllReduce of {} floats", call.count);
    case CollectiveOp::kReduce:
      return format("Reduce of {} floats to rank {}", call.count, call.root);
    case CollectiveOp::kReduceScatter:
      return format("ReduceScatter of {} floats per rank", call.count);
    case CollectiveOp::kBroadcast:
      return format("Broadcast of {} bytes from rank {}", call.count, call.root);
    case CollectiveOp::kAllGather:
      return format("AllGather of {} bytes per rank", call.count);
    case CollectiveOp::kBarrier:
      return "Barrier";
  }
  return format("operation {}", static_cast<int>(call.op));
}

void Collective::CheckRoot(int root, const char* call) const {
  if (root >= 0 && root < size_) return;
  throw Error(ErrorKind::kInvalidArgument,
              format("{}: invalid root {}, there are {} ranks", call, root, size_));
}

void Collective::Account(const CollectiveCall& call, size_t bytes, DeviceStream stream) {
  const auto begin = std::chrono::steady_clock::now();
  Run(call, stream);
  account_.seconds += SecondsSince(begin);
  account_.bytes += bytes;
  ++account_.calls;
}

void Collective::AllReduce(std::span<float> data, DeviceStream stream) {
  Account(
      {.op = CollectiveOp::kAllReduce, .count = data.size(), .in = data.data(), .out = data.data()},
      data.size_bytes(), stream);
}

void Collective::Reduce(std::span<float> data, int root, DeviceStream stream) {
  CheckRoot(root, "Reduce");
  Account({.op = CollectiveOp::kReduce,
           .count = data.size(),
           .root = root,
           .in = data.data(),
           .out = data.data()},
          data.size_bytes(), stream);
}

void Collective::ReduceScatter(std::span<const float> all, std::span<float> part,
                               DeviceStream stream) {
  if (all.size() != part.size() * static_cast<size_t>(size_)) {
    throw Error(
        ErrorKind::kInvalidArgument,
        format("ReduceScatter: {} floats are not {} parts of {}", all.size(), size_, part.size()));
  }
  Account({.op = CollectiveOp::kReduceScatter,
           .count = part.size(),
           .in = all.data(),
           .out = part.data()},
          all.size_bytes(), stream);
}

void Collective::Broadcast(std::span<std::byte> data, int root, DeviceStream stream) {
  CheckRoot(root, "Broadcast");
  Account({.op = CollectiveOp::kBroadcast,
           .count = data.size(),
           .root = root,
           .in = data.data(),
           .out = data.data()},
          data.size(), stream);
}

void Collective::AllGather(std::span<const std::byte> part, std::span<std::byte> all,
                           DeviceStream stream) {
  if (all.size() != part.size() * static_cast<size_t>(size_)) {
    throw Error(ErrorKind::kInvalidArgument, format("AllGather: {} bytes are not {} parts of {}",
                                                    all.size(), size_, part.size()));
  }
  Account(
      {.op = CollectiveOp::kAllGather, .count = part.size(), .in = part.data(), .out = all.data()},
      all.size(), stream);
}

void Collective::Barrier() { Account({.op = CollectiveOp::kBarrier}, 0, nullptr); }

std::vector<uint64_t> GatherValues(Collective& collective, uint64_t value) {
  std::vector<uint64_t> all(static_cast<size_t>(collective.size()));
  collective.host().AllGather(std::as_bytes(std::span(&value, 1)),
                              std::as_writable_bytes(std::span(all)));
  return all;
}

}  // namespace recpack::train
