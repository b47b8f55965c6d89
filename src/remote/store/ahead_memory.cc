#include "src/remote/store/ahead_memory.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/remote/http/per_process.h"
#include "src/remote/http/reactor.h"

namespace recpack::remote {

AheadMemory& AheadMemory::Get() {
  static PerProcess<AheadMemory> memory;
  return memory.Get();
}

AheadMemory::AheadMemory() : AheadMemory([] { return Reactor::Get().link().BytesUnderWay(); }) {}

void AheadMemory::Ensure(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  least_ = std::clamp(bytes, least_, kMost);
}

// Requires mutex_.
bool AheadMemory::HasRoom(uint64_t size) const {
  return taken_ == 0 || taken_ + size <= std::max(LimitOfLink(), least_);
}

bool AheadMemory::Take(uint64_t size, Again again) {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty() && HasRoom(size)) {
    taken_ += size;
    return true;
  }
  waiting_.push_back({size, std::move(again)});
  return false;
}

void AheadMemory::TakeAnyway(uint64_t size) {
  const std::lock_guard lock(mutex_);
  taken_ += size;
}

void AheadMemory::Give(uint64_t size) {
  std::vector<Waiting> ready;
  {
    const std::lock_guard lock(mutex_);
    taken_ -= size;
    while (!waiting_.empty() && HasRoom(waiting_.front().size)) {
      taken_ += waiting_.front().size;
      ready.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
  }
  for (const Waiting& each : ready) each.again(each.size);
}

}  // namespace recpack::remote
