#include "python/calls/worker_processes.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstring>

#include "python/calls/attached.h"
#include "python/calls/function_calls.h"
#include "python/calls/raised.h"
#include "python/calls/shared_slabs.h"
#include "python/convert/array_type.h"
#include "recpack/base/bytes.h"
#include "recpack/base/error.h"
#include "recpack/example/builder.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

// Room for a function's arrays in memory shared with it, one after another. Behind a ragged array
// is the number of its rows, i64.
size_t Room(const ArraySpec& array) {
  const bool ragged = array.rows == ArrayRows::kRagged;
  return SharedPlace(array.sample_bytes) + (ragged ? SharedPlace(sizeof(int64_t)) : 0);
}

size_t TotalBytes(const std::vector<ArraySpec>& arrays) {
  size_t bytes = 0;
  for (const ArraySpec& array : arrays) bytes += Room(array);
  return bytes;
}

// Writes the built example. Throws if it does not fit.
size_t Write(ExampleBuilder& builder, size_t at, std::span<uint8_t> memory) {
  const size_t bytes = builder.ByteSize();
  if (at > memory.size() || bytes > memory.size() - at) {
    throw Error(ErrorKind::kUnsupported,
                "what a function is given, " + std::to_string(at + bytes) +
                    " bytes, does not fit the " + std::to_string(memory.size()) +
                    " that are shared with a worker process",
                {}, "call the function on threads: workers=0");
  }
  builder.SerializeTo(memory.data() + at);
  return bytes;
}

// First position after `at` for the arrays.
CallMessage Write(SampleView& sample, size_t at, std::span<uint8_t> memory) {
  thread_local ExampleBuilder builder;
  builder.Clear();
  for (const FeatureView& feature : sample.example) builder.Add(feature.name(), feature);
  const CallKey key(sample.random);
  const PixelView& picture = sample.picture;
  const size_t picture_bytes = picture.row_bytes() * static_cast<size_t>(picture.height);
  const AudioPart& audio = sample.audio;
  const size_t audio_bytes = size_t{audio.channels} * audio.length * sizeof(float);
  const size_t audio_at = at + SharedPlace(picture_bytes);
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
                   .example_at = audio_at + SharedPlace(audio_bytes),
                   .left = sample.crop.left,
                   .top = sample.crop.top,
                   .crop_width = sample.crop.width,
                   .crop_height = sample.crop.height,
                   .source_height = static_cast<uint64_t>(sample.crop.source.height),
                   .source_width = static_cast<uint64_t>(sample.crop.source.width),
                   .flip = sample.crop.flip ? 1U : 0U,
                   .audio_channels = audio.channels,
                   .audio_length = audio.length,
                   .audio_at = audio_at,
                   .audio_begin = audio.begin,
                   .audio_frames = audio.frames,
                   .audio_rate = audio.rate};
  call.example_bytes = Write(builder, call.example_at, memory);
  if (picture_bytes > 0) std::memcpy(memory.data() + at, picture.pixels, picture_bytes);
  if (audio_bytes > 0) std::memcpy(memory.data() + audio_at, audio.samples, audio_bytes);
  return call;
}

// Writes the batch's description at 0: one value per array in names, types, offsets and dimensions,
// with that many values in `shapes`; ids and mask.
BatchMessage Write(BatchView& batch, std::span<uint8_t> memory) {
  std::vector<ByteView> names, types;
  std::vector<int64_t> offsets, dimensions, shapes;
  for (const ArraySpec& array : batch.arrays()) {
    names.push_back(AsBytes(array.name));
    types.push_back(AsBytes(ElementName(array.type)));
    offsets.push_back(static_cast<int64_t>(array.offset));
    const auto shape = ShapeOf<int64_t>(array, batch.Rows(array.name));
    dimensions.push_back(static_cast<int64_t>(shape.size()));
    shapes.insert(shapes.end(), shape.begin(), shape.end());
  }
  const std::vector<int64_t> ids(batch.ids.begin(), batch.ids.end());
  ExampleBuilder builder;
  builder.AddBytesList("names", names);
  builder.AddBytesList("types", types);
  builder.AddInt64List("offsets", offsets);
  builder.AddInt64List("dimensions", dimensions);
  builder.AddInt64List("shapes", shapes);
  builder.AddInt64List("ids", ids);
  builder.AddBytes("mask", batch.mask);
  const CallKey key(batch.random);
  return {.epoch = batch.epoch,
          .position = batch.position,
          .key_low = key.low,
          .key_high = key.high,
          .seed = key.seed,
          .samples = batch.size,
          .example_bytes = Write(builder, 0, memory)};
}

void CopyTo(const std::vector<ArraySpec>& arrays, std::span<uint8_t* const> out,
            std::span<const uint8_t> memory) {
  size_t at = 0;
  auto to = out.begin();
  for (const ArraySpec& array : arrays) {
    const uint8_t* const from = memory.data() + at;
    size_t bytes = array.sample_bytes;
    uint8_t* const values = *to++;
    if (array.rows == ArrayRows::kRagged) {
      const auto rows = LoadLittleEndian<int64_t>(from + SharedPlace(bytes));
      StoreLittleEndian(*to++, rows);
      bytes = std::min(bytes, bytes / array.shape[0] * static_cast<size_t>(rows));
    }
    std::memcpy(values, from, bytes);
    at += Room(array);
  }
}

[[noreturn]] void Raise(const std::string& failure, const ProcessFunction& function) {
  AttachThread();
  const nb::gil_scoped_acquire locked;
  const RunningCalls::Mark running(*function.running.calls);
  try {
    nb::module_::import_("recpack_io.workers")
        .attr("raise_failure")(nb::bytes(failure.data(), failure.size()));
  } catch (const nb::python_error& raised) {
    ThrowRaised(raised, function.name, *function.running.errors);
  }
  throw Error(ErrorKind::kInvalidArgument,
              function.name + " failed in its process, and did not say how");
}

}  // namespace

class WorkerProcesses::Lent {
 public:
  explicit Lent(WorkerProcesses& of) : of_(of), process_(of.Take()) {}
  ~Lent() { of_.Return(process_); }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  WorkerProcess* operator->() const noexcept { return &process_; }

 private:
  WorkerProcesses& of_;
  WorkerProcess& process_;
};

WorkerProcesses::WorkerProcesses(const std::vector<std::tuple<int, int, int>>& processes) {
  for (const auto& [socket, memory, id] : processes) {
    processes_.push_back(std::make_unique<WorkerProcess>(socket, memory, id));
    idle_.push_back(processes_.back().get());
  }
}

void WorkerProcesses::Call(const ProcessFunction& function, const std::vector<ArraySpec>& arrays,
                           SampleView& sample) {
  std::string failure;
  {
    const Lent process(*this);
    CallMessage call = Write(sample, TotalBytes(arrays), process->memory());
    call.function = function.number;
    failure = AsText(process->Call(call));
    if (failure.empty()) return CopyTo(arrays, sample.out, process->memory());
  }
  Raise(failure, function);
}

void WorkerProcesses::Call(const ProcessFunction& function, BatchView& batch) {
  const ArraySpec& first = batch.arrays().front();
  const auto slab = ProcessSlabs().Find(batch.Raw(first.name) - first.offset);
  if (!slab) {
    throw Error(ErrorKind::kUnsupported,
                function.name + " is given a batch that no process can map", {},
                "call it on threads: workers=0");
  }
  std::string failure;
  {
    const Lent process(*this);
    BatchMessage call = Write(batch, process->memory());
    call.function = function.number;
    call.slab = slab->number;
    call.slab_bytes = slab->bytes;
    failure = AsText(process->Call(call, slab->memory));
    if (failure.empty()) return;
  }
  Raise(failure, function);
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
