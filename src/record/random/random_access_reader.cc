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
#include "src/record/stream/frame_look.h"

namespace recpack {
namespace {

using Backend = SourceOptions::Backend;

// Neighbouring records are read together up to this many bytes.
constexpr uint64_t kMaxRun = uint64_t{1} << 18;
// Records that are looked at to tell whether all are in the page cache.
constexpr size_t kProbes = 8;
// Shards that one source holds, though others may have pushed them out of ShardFiles since; only
// one where few may be open.
constexpr size_t kNearShards = 8;
constexpr size_t kManyOpenFiles = 64;
constexpr uint64_t kCacheLine = 64;
constexpr uint64_t kMaxTouched = 8192;  // of a record: the rest comes by itself once it is read
// Records taken besides before one that was prefetched counts as forgotten.
constexpr uint64_t kPatience = 1024;

std::unique_ptr<Fetcher> MakeFetcher(Backend& backend, const SourceOptions& options) {
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

struct RecordSource::State {
  State(std::shared_ptr<ShardFiles> shards, const SourceOptions& given)
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
  SourceOptions options;
  Backend backend;
  std::unique_ptr<Fetcher> fetcher;
  std::shared_ptr<BufferPool> pool;
  Segments segments;
  // Shards used last, by the low bits of their numbers: asking `files` takes a lock.
  struct Near {
    uint32_t shard = UINT32_MAX;
    std::shared_ptr<const OpenShard> opened;
  };
  std::array<Near, kNearShards> near_shards;
  // A stretch that was begun for records that nobody has taken yet.
  struct Run {
    std::shared_ptr<Fetch> fetch;
    std::vector<uint64_t> ids;
    size_t untaken;
    uint64_t begun_at;  // count of Get() calls then
  };
  std::unordered_map<uint64_t, std::shared_ptr<Run>> begun;
  std::deque<std::shared_ptr<Run>> runs;  // oldest first
  size_t run_bytes = 0;                   // of runs with records untaken
  uint64_t gets = 0;
};

const std::shared_ptr<const OpenShard>& RecordSource::State::Open(uint32_t shard) {
  Near& near = near_shards[options.max_open_files < kManyOpenFiles ? 0 : shard % kNearShards];
  if (shard != near.shard) {
    near = {};  // before the next is opened: with many threads it would be one more for each
    near.opened = files->Open(shard);
    near.shard = shard;
  }
  return near.opened;
}

// By a sample, spread over the ids.
bool RecordSource::State::AllCached(std::span<const uint64_t> ids) {
  const size_t step = std::max<size_t>(ids.size() / kProbes, 1);
  for (size_t i = 0; i < ids.size(); i += step) {
    if (ids[i] >= files->index().record_count()) return false;
    const RecordLocation location = files->index().Locate(ids[i]);
    if (!Open(location.shard)->InPageCache(location.offset + kFrameHeaderBytes)) return false;
  }
  return true;
}

// Those that can be begun, in the order in which they lie.
std::vector<RecordSource::State::Wanted> RecordSource::State::Missing(
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

// Forgets the oldest runs that were taken, or that nobody wants any more: since they were begun,
// far more records were asked for than are waiting.
void RecordSource::State::Settle() {
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

void RecordSource::State::BeginRun(std::span<const Wanted> run) {
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

// Null where the record was not prefetched.
std::shared_ptr<Fetch> RecordSource::State::Take(uint64_t id) {
  ++gets;
  const auto found = begun.find(id);
  if (found == begun.end()) return nullptr;
  Run& run = *found->second;
  std::shared_ptr<Fetch> fetch = run.fetch;
  if (--run.untaken == 0) {
    run_bytes -= fetch->size;
    run.fetch.reset();  // the memory goes with the last record of it
  }
  begun.erase(found);
  return fetch;
}

void RecordSource::State::Check(const OpenShard& shard, const RecordLocation& location,
                                ByteView frame) const {
  // Only made where it is needed: it copies the path.
  const auto place = [&] {
    return Place{.path = shard.path(), .offset = location.offset, .ordinal = location.ordinal};
  };
  if (frame.size() < location.length + kFrameBytes) {
    throw Error(ErrorKind::kCorrupt, "the file ends within or before this record", place(),
                "it was cut off after it was opened; copy it again");
  }
  shard.HoldToIndex(files->index(), location.shard);
  if (!options.verify) return;
  if (!FrameHeaderHolds(frame.data()) || FrameLength(frame.data()) != location.length) {
    throw Error(ErrorKind::kCorrupt,
                "the length or its CRC is not what the index expects: the shard is damaged, or not "
                "the one that was indexed",
                place(), "recpack verify tells which; recpack index makes the index anew");
  }
  if (!FramePayloadHolds(frame.subspan(kFrameHeaderBytes, location.length))) {
    throw Error(ErrorKind::kCorrupt, "the CRC of the payload does not match", place(),
                kDamageAdvice);
  }
}

OwnedRecord RecordSource::State::FromFetch(const RecordLocation& location,
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

OwnedRecord RecordSource::State::FromSegment(const RecordLocation& location) {
  const Segment& segment = segments.Holding(location);
  const uint64_t start = location.offset - segment.offset;
  const ByteView frame(segment.bytes.get() + start,
                       std::min<uint64_t>(segment.size - start, location.length + kFrameBytes));
  Check(*Open(location.shard), location, frame);
  return {segment.bytes, frame.subspan(kFrameHeaderBytes, location.length)};
}

RecordSource::RecordSource(Index index, std::string folder, SourceOptions options,
                           FileSystem& files)
    : RecordSource(
          index,
          [index, folder = std::filesystem::path(folder)](size_t shard) {
            return (folder / index.shard(shard).name).string();
          },
          options, files) {}

RecordSource::RecordSource(Index index, ShardPath path_of, SourceOptions options, FileSystem& files)
    : state_(
          std::make_unique<State>(std::make_shared<ShardFiles>(std::move(index), std::move(path_of),
                                                               options.max_open_files, files),
                                  options)) {}

RecordSource::RecordSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
RecordSource::~RecordSource() = default;
RecordSource::RecordSource(RecordSource&&) noexcept = default;

void RecordSource::Prefetch(std::span<const uint64_t> ids) {
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
      // Likewise.
    }
    i = end;
  }
  state.fetcher->Submit();
}

OwnedRecord RecordSource::Get(uint64_t id) {
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

bool RecordSource::InPageCache(std::span<const uint64_t> ids) noexcept {
  try {
    return !state_->options.prefetch_cached && state_->AllCached(ids);
  } catch (const std::exception&) {
    return false;  // reading will meet the same error and say so
  }
}

void RecordSource::Advise(std::span<const uint64_t> ids) {
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

void RecordSource::Touch(uint64_t id) noexcept {
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

ByteView RecordSource::Read(uint64_t id, ByteBuffer& memory) {
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

uint64_t RecordSource::record_count() const noexcept {
  return state_->files->index().record_count();
}

SourceOptions::Backend RecordSource::backend() const noexcept { return state_->backend; }

RecordSource RecordSource::ForAnotherThread() const {
  return RecordSource(std::make_unique<State>(state_->files, state_->options));
}

const char* BackendName(SourceOptions::Backend backend) {
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
