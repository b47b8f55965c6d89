#include "src/probe/gpu/gpu_watch.h"

#include <utility>

#include "recpack/base/event_log.h"
#include "src/base/format.h"

namespace recpack::probe {

struct GpuWatch::Shared {
  Shared(std::shared_ptr<const Nvml> nvml, int index, const GpuSamplerOptions& given)
      : options(given), device(std::move(nvml), index, given) {
    last.device = index;
    last.time = EventLog::Now();
    last.values = Unavailable{kNotAnsweredYet};
  }

  const GpuSamplerOptions options;
  NvmlDevice device;  // used by the thread only, except for doing()
  std::mutex mutex;   // guards the members below
  std::condition_variable changed;
  bool asked = false;
  bool reading = false;
  bool stop = false;
  bool ended = false;
  int64_t started = 0;  // time at which the reading began
  GpuSample last;
};

GpuWatch::GpuWatch(std::shared_ptr<const Nvml> nvml, int index, const GpuSamplerOptions& options)
    : shared_(std::make_shared<Shared>(std::move(nvml), index, options)),
      thread_([shared = shared_] { Work(shared); }) {}

GpuWatch::~GpuWatch() {
  if (thread_.joinable()) Stop(TimePoint());
}

void GpuWatch::Work(const std::shared_ptr<Shared>& shared) {
  Shared& s = *shared;
  std::unique_lock lock(s.mutex);
  for (;;) {
    s.changed.wait(lock, [&] { return s.asked || s.stop; });
    if (s.stop) break;
    s.asked = false;
    lock.unlock();
    GpuSample sample = s.device.Read(EventLog::Now());
    lock.lock();
    s.last = std::move(sample);
    s.reading = false;
    s.changed.notify_all();
  }
  s.ended = true;
  s.changed.notify_all();
}

void GpuWatch::Ask() {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->reading) return;
  shared_->asked = true;
  shared_->reading = true;
  shared_->started = EventLog::Now();
  shared_->changed.notify_all();
}

GpuSample GpuWatch::Get(TimePoint until) {
  Shared& s = *shared_;
  std::unique_lock lock(s.mutex);
  s.changed.wait_until(lock, until, [&s] { return !s.reading; });
  GpuSample sample = s.last;
  const int64_t waited = s.reading ? EventLog::Now() - s.started : 0;
  if (waited > s.options.late.count()) {
    sample.time = s.started;
    sample.values = Unavailable{
        format("NVML has not answered {} for {} s", s.device.doing(), waited / 1'000'000'000)};
  }
  return sample;
}

void GpuWatch::Stop(TimePoint until) {
  std::unique_lock lock(shared_->mutex);
  shared_->stop = true;
  shared_->changed.notify_all();
  if (shared_->changed.wait_until(lock, until, [this] { return shared_->ended; })) {
    lock.unlock();
    thread_.join();
  } else {
    thread_.detach();
  }
}

}  // namespace recpack::probe
