#include "src/train/layers/transfer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "recpack/base/event_log.h"

namespace recpack::train {
namespace {

template <typename Work>
double WorkSeconds(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Event span of a copy. Copies between GPUs are recorded by the GPU trace instead.
EventSpan Copies(bool by_host, size_t bytes) {
  return {by_host ? EventLog::OfProcess() : nullptr,
          {.kind = EventKind::kCopy,
           .copy = CopyKind::kPeerToPeer,
           .lane = EventLog::ThreadLane(),
           .value = bytes}};
}

bool OnHost(const DeviceQueue& queue) { return queue.ops().Stream() == nullptr; }

}  // namespace

void TransferLog::Add(uint64_t bytes, double seconds) {
  const std::lock_guard lock(mutex_);
  account_.shortest = account_.calls == 0 ? seconds : std::min(account_.shortest, seconds);
  account_.longest = std::max(account_.longest, seconds);
  account_.seconds += seconds;
  account_.bytes += bytes;
  ++account_.calls;
}

TransferAccount TransferLog::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(account_, {});
}

// The time of work enqueued before a copy is not part of the copy's time.
void Transfer::Move(const void* from, void* to, size_t bytes) {
  const bool from_host = OnHost(from_), to_host = OnHost(to_);
  if (!from_host) {
    const auto download = [this, to_host, from, bytes] {
      from_.ops().Synchronise();
      if (!to_host) return;
      host_.resize(bytes);
      download_seconds_ = WorkSeconds([&] { from_.ops().Download(host_.data(), from, bytes); });
    };
    from_.Do(download, DeviceQueue::Kind::kMoves);
  }
  const uint64_t given = from_.given();
  const auto move = [this, from_host, to_host, given, from, to, bytes] {
    if (!from_.Await(given)) return;
    Ops& ops = to_.ops();
    ops.Synchronise();
    const EventSpan copies = Copies(from_host || to_host, bytes);
    const double seconds = WorkSeconds([&] {
      if (from_host || to_host) {
        ops.Upload(to, from_host ? from : host_.data(), bytes);
      } else {
        ops.CopyFrom(from_.ops(), to, from, bytes);
      }
      ops.Synchronise();
    });
    log_.Add(bytes, seconds + (from_host || !to_host ? 0 : download_seconds_));
  };
  to_.Do(move, DeviceQueue::Kind::kMoves);
}

void ActivationLink::Build(const ModelContext& context, Activations& source) {
  source_ = &source;
  if (moves_) copy_.Allocate(context, source.value.shape, source.value.type);
}

void ActivationLink::BuildMore(const ModelContext& context, const void* more) {
  more_ = more;
  if (moves_ && more) more_copy_ = context.ops->Allocate(source_->gradient.bytes());
}

void ActivationLink::Forward() {
  if (moves_) there_.Move(source_->value.data, copy_.value.data, copy_.value.bytes());
}

void ActivationLink::Backward() {
  if (!moves_) return;
  back_.Move(copy_.gradient.data, source_->gradient.data, copy_.gradient.bytes());
  if (more_) more_back_.Move(more_, more_copy_.data(), copy_.gradient.bytes());
}

void InputLink::Build(const ModelContext& context, size_t bytes) {
  bytes_ = bytes;
  if (moves_) copy_ = context.ops->Allocate(bytes);
}

const void* InputLink::Forward(const void* array) {
  if (!moves_) return array;
  there_.Move(array, copy_.data(), bytes_);
  return copy_.data();
}

void PlacedSums::Build() {
  queue_.DoAndJoin([this] { memory_ = queue_.ops().Allocate(sizeof(LossSums)); });
}

LossSums* PlacedSums::Begin(LossSums* whole) {
  if (!memory_.data()) return whole;
  queue_.Do([this] { queue_.ops().Zero(memory_.data(), sizeof(LossSums)); });
  return memory_.As<LossSums>();
}

LossSums PlacedSums::Read() {
  LossSums sums;
  queue_.DoAndJoin([&] { queue_.ops().Download(&sums, memory_.data(), sizeof sums); });
  return sums;
}

}  // namespace recpack::train
