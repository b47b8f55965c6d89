#include "recpack/record/random_access_reader.h"

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <unordered_map>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/record/framing.h"
#include "src/base/format.h"
#include "src/record/random/fetcher.h"
#include "src/record/random/segments.h"
#include "src/record/random/shard_files.h"
#include "src/record/stream/frames.h"

namespace recpack {
namespace {

using Backend = RandomAccessOptions::Backend;

// Maximum size of one read of adjacent records.
constexpr uint64_t kMaxRun = uint64_t{1} << 18;
// Records that InPageCache() samples.
constexpr size_t kProbes = 8;
// Shards that one source keeps open even after ShardFiles has evicted them; only one if few files
// may be open.
constexpr size_t kNearShards = 8;
constexpr size_t kManyOpenFiles = 64;
constexpr uint64_t kCacheLine = 64;
constexpr uint64_t kMaxTouched = 8192;  // bytes of a record; the hardware prefetches the rest
// Other records read before a prefetched record counts as abandoned.
constexpr uint64_t kPatience = 1024;

std::unique_ptr<Fetcher> MakeFetcher(Backend& backend, const RandomAccessOptions& options) {
  if (backend == Backend::kMapped) return MakeMappedFetcher(!options.verify);
  if (backend == Backend::kIoUring) {
    if (auto fetcher = MakeIoUringFetcher()) return fetcher;
  }
  backend = Backend::kPread;
  return MakePreadFetcher(options.threads);
}

uint64_t FrameEnd(const RecordLocation& location) {
  return location.offset + location.length + kFrameBytes;
}

}  // namespace

struct RandomAccessReader::State {
  State(std::shared_ptr<ShardFiles> shards, const RandomAccessOptions& given)
      : files(std::move(shards)),
        options(given),
        backend(given.backend),
        fetcher(MakeFetcher(backend, given)),
        pool(std::make_shared<BufferPool>(given.max_prefetched_bytes)),
        segments(files, given.max_segment_bytes) {}

  struct Wanted {
    uint64_t id;
    RecordLocation location;
  };

  const std::shared_ptr<const OpenShard>& Open(uint32_t shard);
  bool AllCached(std::span<const uint64_t> ids);
  std::vector<Wanted> Missing(std::span<const uint64_t> ids) const;
  void BeginRun(std::span<const Wanted> run);
  void Settle();
  std::shared_ptr<Fetch> Take(uint64_t id);
  OwnedRecord FromFetch(const RecordLocation& location, const std::shared_ptr<Fetch>& fetch);
  OwnedRecord FromSegment(const RecordLocation& location);
  void Check(const OpenShard& shard, const RecordLocation& location, ByteView frame) const;

  std::shared_ptr<ShardFiles> files;
  RandomAccessOptions options;
  Backend backend;
  std::unique_ptr<Fetcher> fetcher;
  std::shared_ptr<BufferPool> pool;
  Segments segments;
  // Direct-mapped cache of the shards used last, since `files` takes a lock.
  struct Near {
    uint32_t shard = UINT32_MAX;
    std::shared_ptr<const OpenShard> opened;
  };
  std::array<Near, kNearShards> near_shards;
  // Prefetched range whose records have not all been taken.
  struct Run {
    std::shared_ptr<Fetch> fetch;
    std::vector<uint64_t> ids;
    size_t untaken;
    uint64_t begun_at;  // number of Get() calls at that time
  };
  std::unordered_map<uint64_t, std::shared_ptr<Run>> begun;
  std::deque<std::shared_ptr<Run>> runs;  // oldest first
  size_t run_bytes = 0;                   // bytes of runs with records not taken
  uint64_t gets = 0;
};

const std::shared_ptr<const OpenShard>& RandomAccessReader::State::Open(uint32_t shard) {
  Near& near = near_shards[options.max_open_files < kManyOpenFiles ? 0 : shard % kNearShards];
  if (shard != near.shard) {
    near = {};  // closes it before the next is opened, else each thread holds one more
    near.opened = files->Open(shard);
    near.shard = shard;
  }
  return near.opened;
}

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

// Returns the locations of the records that can be read, in file order.
std::vector<RandomAccessReader::State::Wanted> RandomAccessReader::State::Missing(
    std::span<const uint64_t> ids) const {
  std::vector<Wanted> wanted;
  wanted.reserve(ids.size());
  for (const uint64_t id : ids) {
    if (id < files->index().record_count() && !begun.contains(id)) wanted.push_back({id, {}});
  }
  std::ranges::sort(wanted, {}, &Wanted::id);
  const auto same = [](const Wanted& a, const Wanted& b) { return a.id == b.id; };
  wanted.erase(std::unique(wanted.begin(), wanted.end(), same), wanted.end());
  for (Wanted& item : wanted) item.location = files->index().Locate(item.id);
  return wanted;
}

// Drops the oldest runs that were taken or abandoned: a run is abandoned if far more records than
// are waiting have been read since it was started.
void RandomAccessReader::State::Settle() {
  while (!runs.empty()) {
    const Run& oldest = *runs.front();
    const bool given_up = gets - oldest.begun_at > begun.size() + kPatience;
    if (oldest.untaken > 0 && !given_up) return;
    if (oldest.untaken > 0) run_bytes -= oldest.fetch->size;
    for (const uint64_t id : oldest.ids) {
      const auto found = begun.find(id);
      if (found != begun.end() && found->second == runs.front()) begun.erase(found);
    }
    runs.pop_front();
  }
}

void RandomAccessReader::State::BeginRun(std::span<const Wanted> run) {
  const RecordLocation& first = run.front().location;
  const auto shard = Open(first.shard);
  const uint64_t end = FrameEnd(run.back().location);
  if (shard->summary().compression != Compression::kNone || end > shard->summary().file_bytes) {
    return;
  }
  const size_t bytes = end - first.offset;
  if (bytes > options.max_prefetched_bytes - run_bytes) return;
  const auto entry = std::make_shared<Run>();
  entry->fetch = std::make_shared<Fetch>(shard, first.offset, bytes, pool);
  entry->untaken = run.size();
  entry->begun_at = gets;
  for (const Wanted& item : run) {
    begun.emplace(item.id, entry);
    entry->ids.push_back(item.id);
  }
  runs.push_back(entry);
  run_bytes += bytes;
  fetcher->Begin(entry->fetch);
}

// Returns null if the record was not prefetched.
std::shared_ptr<Fetch> RandomAccessReader::State::Take(uint64_t id) {
  ++gets;
  const auto found = begun.find(id);
  if (found == begun.end()) return nullptr;
  Run& run = *found->second;
  std::shared_ptr<Fetch> fetch = run.fetch;
  if (--run.untaken == 0) {
    run_bytes -= fetch->size;
    run.fetch.reset();  // the memory is freed with its last record
  }
  begun.erase(found);
  return fetch;
}

void RandomAccessReader::State::Check(const OpenShard& shard, const RecordLocation& location,
                                      ByteView frame) const {
  // Built only for errors, since it copies the path.
  const auto place = [&] {
    return Place{.path = shard.path(), .offset = location.offset, .ordinal = location.ordinal};
  };
  if (frame.size() < location.length + kFrameBytes) {
    throw Error(ErrorKind::kCorrupt, "the file ends within or before this record", place(),
                "it was truncated after it was opened; copy it again");
  }
  shard.HoldToIndex(files->index(), location.shard);
  if (!options.verify) return;
  if (!FrameHeaderHolds(frame.data()) || FrameLength(frame.data()) != location.length) {
    throw Error(ErrorKind::kCorrupt,
                "the length or its CRC is not what the index expects: the shard is damaged, or not "
                "the one that was indexed",
                place(), "recpack verify tells which; recpack index rebuilds the index");
  }
  if (!FramePayloadHolds(frame.subspan(kFrameHeaderBytes, location.length))) {
    throw Error(ErrorKind::kCorrupt, "the CRC of the payload does not match", place(),
                kDamageAdvice);
  }
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
  Check(*fetch->shard, location, frame);
  return {fetch->memory, frame.subspan(kFrameHeaderBytes, location.length)};
}

OwnedRecord RandomAccessReader::State::FromSegment(const RecordLocation& location) {
  const Segment& segment = segments.Find(location);
  const uint64_t start = location.offset - segment.offset;
  const ByteView frame(segment.bytes.get() + start,
                       std::min<uint64_t>(segment.size - start, location.length + kFrameBytes));
  Check(*Open(location.shard), location, frame);
  return {segment.bytes, frame.subspan(kFrameHeaderBytes, location.length)};
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
  state.Settle();
  const auto wanted = state.Missing(ids);
  for (size_t i = 0; i < wanted.size();) {
    const RecordLocation& first = wanted[i].location;
    size_t end = i + 1;
    for (; end < wanted.size(); ++end) {
      const RecordLocation& next = wanted[end].location;
      if (next.shard != first.shard || next.offset != FrameEnd(wanted[end - 1].location)) break;
      if (FrameEnd(next) - first.offset > kMaxRun) break;
    }
    try {
      state.BeginRun(std::span(wanted).subspan(i, end - i));
    } catch (const Error&) {
      // Get() reports the error.
    }
    i = end;
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
  if (const auto fetch = state.Take(id)) return state.FromFetch(location, fetch);
  const auto shard = state.Open(location.shard);
  if (shard->summary().compression != Compression::kNone) return state.FromSegment(location);
  if (FrameEnd(location) > shard->summary().file_bytes) state.Check(*shard, location, {});
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
    const auto wanted = state.Missing(ids);
    for (size_t i = 0; i < wanted.size();) {
      const RecordLocation& first = wanted[i].location;
      uint64_t end = FrameEnd(first);
      for (++i; i < wanted.size(); ++i) {
        const RecordLocation& next = wanted[i].location;
        if (next.shard != first.shard || next.offset != end) break;
        end = FrameEnd(next);
      }
      state.Open(first.shard)->file().WillNeed(first.offset, end - first.offset);
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
  if (id < record_count() && !state.begun.contains(id)) {
    const RecordLocation location = state.files->index().Locate(id);
    const auto& shard = state.Open(location.shard);
    if (shard->summary().compression == Compression::kNone &&
        FrameEnd(location) <= shard->summary().file_bytes) {
      const size_t bytes = location.length + kFrameBytes;
      if (memory.size() < bytes) memory.resize(bytes);
      const size_t got = state.fetcher->ReadInto(*shard, location.offset, {memory.data(), bytes});
      state.Check(*shard, location, {memory.data(), got});
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

const char* BackendName(RandomAccessOptions::Backend backend) {
  switch (backend) {
    case Backend::kAutomatic:
      return "automatic";
    case Backend::kPread:
      return "pread";
    case Backend::kIoUring:
      return "io_uring";
    case Backend::kMapped:
      return "mapped";
  }
  return "unknown";
}

}  // namespace recpack
