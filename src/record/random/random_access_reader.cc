#include "recpack/record/random_access_reader.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/record/random/fetcher.h"
#include "src/record/random/frame_check.h"
#include "src/record/random/prefetched_runs.h"
#include "src/record/random/segments.h"
#include "src/record/random/shard_files.h"

namespace recpack {
namespace {

using Backend = RandomAccessOptions::Backend;

// Maximum size of one read of adjacent records.
constexpr uint64_t kMaxRun = uint64_t{1} << 18;
// Records that InPageCache() samples.
constexpr size_t kProbes = 8;
constexpr uint64_t kCacheLine = 64;
constexpr uint64_t kMaxTouched = 8192;  // bytes of a record; the hardware prefetches the rest

}  // namespace

struct RandomAccessReader::State {
  State(std::shared_ptr<ShardFiles> shards, const RandomAccessOptions& given)
      : files(std::move(shards)),
        options(given),
        check(files->index(), given.verify),
        backend(files->CanMap() ? given.backend : Backend::kPread),
        fetcher(MakeFetcher(backend, given)),
        pool(std::make_shared<BufferPool>(given.max_prefetched_bytes)),
        segments(files, given.max_segment_bytes),
        near_shards(files, given.max_open_files),
        runs(given.max_prefetched_bytes) {}

  const std::shared_ptr<const OpenShard>& Open(uint32_t shard) { return near_shards.Open(shard); }
  bool AllCached(std::span<const uint64_t> ids);
  void BeginRun(std::span<const WantedRecord> run);
  OwnedRecord FromFetch(const RecordLocation& location, const std::shared_ptr<Fetch>& fetch);
  OwnedRecord FromSegment(const RecordLocation& location);
  ByteView View(const OpenShard& shard, const RecordLocation& location);

  std::shared_ptr<ShardFiles> files;
  RandomAccessOptions options;
  FrameCheck check;
  Backend backend;
  std::unique_ptr<Fetcher> fetcher;
  std::shared_ptr<BufferPool> pool;
  Segments segments;
  NearShards near_shards;
  PrefetchedRuns runs;
  std::shared_ptr<const void> viewed;  // owns what View() returned
};

// Checks a sample spread over the ids.
bool RandomAccessReader::State::AllCached(std::span<const uint64_t> ids) {
  const size_t step = std::max<size_t>(ids.size() / kProbes, 1);
  for (size_t i = 0; i < ids.size(); i += step) {
    if (ids[i] >= files->index().record_count()) return false;
    const RecordLocation location = files->index().Locate(ids[i]);
    if (!Open(location.shard)->InPageCache(location.offset + kFrameHeaderBytes)) return false;
  }
  return true;
}

// Starts to read adjacent records of a shard as one range.
void RandomAccessReader::State::BeginRun(std::span<const WantedRecord> run) {
  const RecordLocation& first = run.front().location;
  const auto shard = Open(first.shard);
  const uint64_t end = FrameEnd(run.back().location);
  if (shard->summary().compression != Compression::kNone || end > shard->summary().file_bytes) {
    return;
  }
  const size_t bytes = end - first.offset;
  if (!runs.HasRoomFor(bytes)) return;
  const auto fetch = std::make_shared<Fetch>(shard, first.offset, bytes, pool);
  runs.Add(run, fetch);
  fetcher->Begin(fetch);
}

OwnedRecord RandomAccessReader::State::FromFetch(const RecordLocation& location,
                                                 const std::shared_ptr<Fetch>& fetch) {
  fetcher->Finish(*fetch);
  if (fetch->error) throw *fetch->error;
  const uint64_t start = location.offset - fetch->offset;
  ByteView frame;
  if (fetch->got > start) {
    frame = {fetch->memory.get() + start,
             std::min<size_t>(fetch->got - start, location.length + kFrameBytes)};
  }
  std::span<uint8_t> own(fetch->memory.get() + start, frame.size());
  check.CheckOrReadAgain(*fetch->shard, location, own, own.size());
  return {fetch->memory, frame.subspan(kFrameHeaderBytes, location.length)};
}

OwnedRecord RandomAccessReader::State::FromSegment(const RecordLocation& location) {
  const Segment& segment = segments.Find(location);
  const uint64_t start = location.offset - segment.offset;
  const ByteView frame(segment.bytes.get() + start,
                       std::min<uint64_t>(segment.size - start, location.length + kFrameBytes));
  check.Check(*Open(location.shard), location, frame);
  return {segment.bytes, frame.subspan(kFrameHeaderBytes, location.length)};
}

// Returns the frame if the file has it in memory, and it is not damaged.
ByteView RandomAccessReader::State::View(const OpenShard& shard, const RecordLocation& location) {
  const ByteView frame = shard.file().View(location.offset, location.length + kFrameBytes, viewed);
  try {
    if (!frame.empty()) check.Check(shard, location, frame);
  } catch (const Error&) {
    return {};  // reading it again may help
  }
  return frame;
}

RandomAccessReader::RandomAccessReader(Index index, std::string folder, RandomAccessOptions options,
                                       FileSystem& files)
    : RandomAccessReader(
          index,
          [index, folder = std::filesystem::path(folder)](size_t shard) {
            return (folder / index.shard(shard).name).string();
          },
          options, files) {}

RandomAccessReader::RandomAccessReader(Index index, ShardPath path_of, RandomAccessOptions options,
                                       FileSystem& files)
    : state_(
          std::make_unique<State>(std::make_shared<ShardFiles>(std::move(index), std::move(path_of),
                                                               options.max_open_files, files),
                                  options)) {}

RandomAccessReader::RandomAccessReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
RandomAccessReader::~RandomAccessReader() = default;
RandomAccessReader::RandomAccessReader(RandomAccessReader&&) noexcept = default;

void RandomAccessReader::Prefetch(std::span<const uint64_t> ids) {
  State& state = *state_;
  if (InPageCache(ids)) return;
  state.runs.Settle();
  const auto wanted = state.runs.Missing(ids, state.files->index());
  for (std::span<const WantedRecord> rest(wanted); !rest.empty();) {
    const auto run = FirstRun(rest, kMaxRun);
    try {
      state.BeginRun(run);
    } catch (const Error&) {
      // Get() reports the error.
    }
    rest = rest.subspan(run.size());
  }
  state.fetcher->Submit();
}

OwnedRecord RandomAccessReader::Get(uint64_t id) {
  State& state = *state_;
  if (id >= record_count()) {
    throw Error(ErrorKind::kInvalidArgument,
                format("there is no record {}, the split has {}", id, record_count()));
  }
  const RecordLocation location = state.files->index().Locate(id);
  if (const auto fetch = state.runs.Take(id)) return state.FromFetch(location, fetch);
  const auto shard = state.Open(location.shard);
  if (shard->summary().compression != Compression::kNone) return state.FromSegment(location);
  if (FrameEnd(location) > shard->summary().file_bytes) state.check.Check(*shard, location, {});
  return state.FromFetch(
      location,
      std::make_shared<Fetch>(shard, location.offset, location.length + kFrameBytes, state.pool));
}

bool RandomAccessReader::InPageCache(std::span<const uint64_t> ids) noexcept {
  try {
    return !state_->options.prefetch_cached && state_->AllCached(ids);
  } catch (const std::exception&) {
    return false;  // Get() reports the error
  }
}

void RandomAccessReader::Advise(std::span<const uint64_t> ids) {
  State& state = *state_;
  try {
    const auto wanted = state.runs.Missing(ids, state.files->index());
    for (std::span<const WantedRecord> rest(wanted); !rest.empty();) {
      const auto run = FirstRun(rest, UINT64_MAX);
      const RecordLocation& first = run.front().location;
      state.Open(first.shard)
          ->file()
          .WillNeed(first.offset, FrameEnd(run.back().location) - first.offset);
      rest = rest.subspan(run.size());
    }
  } catch (const Error&) {
    // Reading will meet the same error and say so.
  }
}

void RandomAccessReader::Touch(uint64_t id) noexcept {
  State& state = *state_;
  if (state.backend != Backend::kMapped || id >= record_count()) return;
  try {
    const RecordLocation location = state.files->index().Locate(id);
    const auto& shard = state.Open(location.shard);
    if (shard->file().descriptor() < 0) return;
    const ByteView mapped = shard->Mapped();
    const uint64_t end = std::min<uint64_t>(
        mapped.size(),
        location.offset + std::min<uint64_t>(location.length + kFrameBytes, kMaxTouched));
    for (uint64_t at = location.offset; at < end; at += kCacheLine) {
      __builtin_prefetch(mapped.data() + at);
    }
  } catch (const std::exception&) {
    // Reading will meet the same error and say so.
  }
}

ByteView RandomAccessReader::Read(uint64_t id, ByteBuffer& memory) {
  State& state = *state_;
  if (id < record_count() && !state.runs.Has(id)) {
    const RecordLocation location = state.files->index().Locate(id);
    const auto& shard = state.Open(location.shard);
    if (shard->summary().compression == Compression::kNone &&
        FrameEnd(location) <= shard->summary().file_bytes) {
      const size_t bytes = location.length + kFrameBytes;
      if (const ByteView frame = state.View(*shard, location); !frame.empty()) {
        return frame.subspan(kFrameHeaderBytes, location.length);
      }
      if (memory.size() < bytes) memory.resize(bytes);
      const size_t got = state.fetcher->ReadInto(*shard, location.offset, {memory.data(), bytes});
      state.check.CheckOrReadAgain(*shard, location, {memory.data(), bytes}, got);
      return {memory.data() + kFrameHeaderBytes, location.length};
    }
  }
  const OwnedRecord record = Get(id);
  memory.assign(record.payload().begin(), record.payload().end());
  return memory;
}

uint64_t RandomAccessReader::record_count() const noexcept {
  return state_->files->index().record_count();
}

RandomAccessOptions::Backend RandomAccessReader::backend() const noexcept {
  return state_->backend;
}

RandomAccessReader RandomAccessReader::ForAnotherThread() const {
  return RandomAccessReader(std::make_unique<State>(state_->files, state_->options));
}

}  // namespace recpack
