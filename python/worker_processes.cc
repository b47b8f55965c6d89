#include "python/worker_processes.h"

#include <nanobind/nanobind.h>

#include <cstring>

#include "python/attached.h"
#include "python/function_calls.h"
#include "python/raised.h"
#include "recpack/base/error.h"
#include "recpack/example/builder.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

void Add(const FeatureView& feature, ExampleBuilder& builder) {
  switch (feature.kind()) {
    case FeatureKind::kBytes:
      return builder.AddBytesList(feature.name(), feature.bytes_values());
    case FeatureKind::kFloat:
      return builder.AddFloatList(feature.name(), feature.float_values());
    case FeatureKind::kInt64:
      return builder.AddInt64List(feature.name(), feature.int64_values());
    case FeatureKind::kNone:
      return builder.AddNone(feature.name());
  }
}

size_t BytesOf(const std::vector<ArraySpec>& arrays) {
  size_t bytes = 0;
  for (const ArraySpec& array : arrays) bytes += SharedPlace(array.sample_bytes);
  return bytes;
}

// Behind `at`, where the arrays will be.
CallMessage Write(SampleView& sample, size_t at, std::span<uint8_t> memory) {
  thread_local ExampleBuilder builder;
  builder.Clear();
  for (const FeatureView& feature : sample.example) Add(feature, builder);
  const CallKey key(sample.random);
  const PixelView& picture = sample.picture;
  const size_t picture_bytes = picture.row_bytes() * static_cast<size_t>(picture.height);
  CallMessage call{.id = sample.id,
                   .epoch = sample.epoch,
                   .position = sample.position,
                   .key_low = key.low,
                   .key_high = key.high,
                   .seed = key.seed,
                   .height = static_cast<uint64_t>(picture.height),
                   .width = static_cast<uint64_t>(picture.width),
                   .channels = static_cast<uint64_t>(picture.channels),
                   .picture_at = at,
                   .example_at = at + SharedPlace(picture_bytes),
                   .example_bytes = builder.ByteSize()};
  const size_t needed = call.example_at + call.example_bytes;
  if (needed > memory.size()) {
    throw Error(ErrorKind::kUnsupported,
                "a sample of " + std::to_string(needed) + " bytes does not fit the " +
                    std::to_string(memory.size()) + " that are shared with a worker process",
                {}, "call the function on threads: workers=0");
  }
  if (picture_bytes > 0) std::memcpy(memory.data() + at, picture.pixels, picture_bytes);
  builder.SerializeTo(memory.data() + call.example_at);
  return call;
}

void CopyTo(const std::vector<ArraySpec>& arrays, std::span<uint8_t* const> out,
            std::span<const uint8_t> memory) {
  size_t at = 0;
  for (size_t i = 0; i < arrays.size(); ++i) {
    std::memcpy(out[i], memory.data() + at, arrays[i].sample_bytes);
    at += SharedPlace(arrays[i].sample_bytes);
  }
}

[[noreturn]] void Raise(const std::string& failure, const std::string& name) {
  AttachThread();
  const nb::gil_scoped_acquire locked;
  try {
    nb::module_::import_("recpack_io.workers")
        .attr("raise_failure")(nb::bytes(failure.data(), failure.size()));
  } catch (const nb::python_error& raised) {
    ThrowRaised(raised, name);
  }
  throw Error(ErrorKind::kInvalidArgument, name + " failed in its process, and did not say how");
}

}  // namespace

WorkerProcesses::WorkerProcesses(const std::vector<std::tuple<int, int, int>>& processes) {
  for (const auto& [socket, memory, id] : processes) {
    processes_.push_back(std::make_unique<WorkerProcess>(socket, memory, id));
    idle_.push_back(processes_.back().get());
  }
}

void WorkerProcesses::Call(uint64_t function, const std::string& name,
                           const std::vector<ArraySpec>& arrays, SampleView& sample) {
  std::string failure;
  {
    struct Lent {
      explicit Lent(WorkerProcesses& by) : of(by), process(by.Take()) {}
      ~Lent() { of.Return(process); }
      WorkerProcesses& of;
      WorkerProcess& process;
    } const lent(*this);
    CallMessage call = Write(sample, BytesOf(arrays), lent.process.memory());
    call.function = function;
    failure = AsText(lent.process.Call(call));
    if (failure.empty()) return CopyTo(arrays, sample.out, lent.process.memory());
  }
  Raise(failure, name);
}

void WorkerProcesses::Stop() noexcept {
  for (const auto& process : processes_) process->Stop();
}

WorkerProcess& WorkerProcesses::Take() {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [&] { return !idle_.empty(); });
  WorkerProcess& process = *idle_.back();
  idle_.pop_back();
  return process;
}

void WorkerProcesses::Return(WorkerProcess& process) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(&process);
  returned_.notify_one();
}

}  // namespace recpack::python
