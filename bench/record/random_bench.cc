// Records in global order by every backend of RandomAccessReader, beside this machine's own limits.
//
//   random_bench FOLDER [ROUNDS]
//
// Writes 1 GB of shards to FOLDER and removes them. One JSON line a row: records of 3 KB and 100
// KB; warm (in the page cache) and cold (dropped from it before each turn); CRCs checked; one
// thread that prefetches 256 records ahead, or none ("alone"). Entrants take turns; figures are
// medians over the rounds. Ceilings read the same stretches with neither CRC nor memory management:
// warm, one thread's preads into one buffer; cold, the better of 64 threads' preads through the
// page cache and past it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/median.h"
#include "recpack/base/permutation.h"
#include "recpack/base/random.h"
#include "recpack/record/framing.h"
#include "recpack/record/random_access_reader.h"
#include "recpack/record/writer.h"

namespace recpack {
namespace {

using Backend = RandomAccessOptions::Backend;
using Ids = std::vector<uint64_t>;

constexpr uint64_t kShards = 10;
constexpr uint64_t kBytes = 1'000'000'000;
constexpr size_t kAhead = 256;
constexpr size_t kDiskThreads = 64;
constexpr uint64_t kPage = 4096;

struct Split {
  Split(const std::string& where, uint64_t record_bytes) : folder(where) {
    std::filesystem::create_directories(folder);
    IndexWriter writer(PosixFiles().Create(folder + "/index"));
    const uint64_t records = kBytes / kShards / record_bytes;
    for (uint64_t s = 0; s < kShards; ++s) writer.AddShard(WriteShard(s, records, record_bytes));
    writer.Finish(true);
    index = Index::Open(folder + "/index");
  }
  ~Split() {
    for (const std::string& path : paths) ::unlink(path.c_str());
    ::unlink((folder + "/index").c_str());
  }

  ShardEntries WriteShard(uint64_t shard, uint64_t records, uint64_t record_bytes) {
    paths.push_back(folder + "/shard-" + std::to_string(shard));
    RecordWriter writer(PosixFiles().Create(paths.back()), {});
    KeyedRandom random(1, 0, shard);
    for (uint64_t i = 0; i < records; ++i) {
      const auto payload = writer.Begin(record_bytes);
      for (size_t at = 0; at + 4 <= payload.size(); at += 4) {
        StoreLittleEndian(payload.data() + at, random.NextU32());
      }
      writer.End();
    }
    writer.Finish(true);
    return writer.entries();
  }

  // Out of the page cache, which needs no rights for pages that are on the disk.
  void Drop() const {
    for (const std::string& path : paths) {
      const int fd = ::open(path.c_str(), O_RDONLY);
      ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
      ::close(fd);
    }
  }

  std::string folder;
  std::vector<std::string> paths;
  Index index;
};

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// `count` records of a keyed global order, other ones each turn.
Ids TakeIds(const Split& split, size_t count, uint64_t turn) {
  const KeyedPermutation order(11, 0, split.index.record_count());
  Ids ids(count);
  for (size_t i = 0; i < count; ++i) ids[i] = order((turn * count + i) % order.size());
  return ids;
}

void ReadBySource(const Split& split, const RandomAccessOptions& options, size_t ahead,
                  const Ids& ids) {
  RandomAccessReader source(split.index, split.folder, options);
  const auto prefetch = [&](size_t at) {
    if (at >= ids.size()) return;
    source.Prefetch(std::span(ids).subspan(at, std::min(ahead, ids.size() - at)));
  };
  if (ahead > 0) prefetch(0);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ahead > 0 && i % ahead == 0) prefetch(i + ahead);
    if (source.Get(ids[i]).payload().empty()) std::abort();
  }
}

// Preads of the records' stretches, rounded to pages where `flags` has O_DIRECT.
void ReadBare(const Split& split, std::span<const uint64_t> ids, int flags) {
  std::vector<int> fds;
  for (const std::string& path : split.paths) {
    fds.push_back(::open(path.c_str(), O_RDONLY | flags));
    ::posix_fadvise(fds.back(), 0, 0, POSIX_FADV_RANDOM);
  }
  const std::unique_ptr<void, decltype(&std::free)> buffer(
      std::aligned_alloc(kPage, size_t{1} << 20), &std::free);
  const uint64_t grain = (flags & O_DIRECT) != 0 ? kPage : 1;
  for (const uint64_t id : ids) {
    const RecordLocation at = split.index.Locate(id);
    const uint64_t start = at.offset / grain * grain;
    const uint64_t end = (at.offset + at.length + kFrameBytes + grain - 1) / grain * grain;
    const ssize_t got =
        ::pread(fds[at.shard], buffer.get(), end - start, static_cast<off_t>(start));
    if (got <= 0) std::abort();
  }
  for (const int fd : fds) ::close(fd);
}

void ReadBareInParallel(const Split& split, const Ids& ids, int flags) {
  std::vector<std::jthread> threads;
  const size_t part = (ids.size() + kDiskThreads - 1) / kDiskThreads;
  for (size_t first = 0; first < ids.size(); first += part) {
    threads.emplace_back([&, first] {
      ReadBare(split, std::span(ids).subspan(first, std::min(part, ids.size() - first)), flags);
    });
  }
}

struct Entrant {
  std::string name;
  bool ceiling;
  std::function<void(const Ids&)> read;
  std::vector<double> rates = {};  // records a second
};

std::vector<Entrant> Entrants(const Split& split, bool cold) {
  std::vector<Entrant> entrants;
  const auto bare = [&](const char* name, int flags) {
    entrants.push_back({name, true, [&split, flags, cold](const Ids& ids) {
                          if (cold) return ReadBareInParallel(split, ids, flags);
                          ReadBare(split, ids, flags);
                        }});
  };
  const auto ours = [&](const char* name, Backend backend, int threads, size_t ahead) {
    const RandomAccessOptions options{.backend = backend,
                                      .threads = threads,
                                      .prefetch_cached = std::string_view(name) != "automatic"};
    entrants.push_back({name, false, [&split, options, ahead](const Ids& ids) {
                          ReadBySource(split, options, ahead, ids);
                        }});
  };
  bare(cold ? "bare_64_threads" : "bare_pread", 0);
  if (cold) bare("bare_64_threads_direct", O_DIRECT);
  ours("automatic", Backend::kAutomatic, 0, kAhead);
  ours("pread_alone", Backend::kPread, 0, 0);
  ours("pread_advised", Backend::kPread, 0, kAhead);
  ours("pread_4_threads", Backend::kPread, 4, kAhead);
  ours("pread_32_threads", Backend::kPread, 32, kAhead);
  ours("io_uring", Backend::kIoUring, 0, kAhead);
  ours("mapped_alone", Backend::kMapped, 0, 0);
  ours("mapped_advised", Backend::kMapped, 0, kAhead);
  return entrants;
}

void Print(const Entrant& entrant, uint64_t record_bytes, bool cold, double ceiling) {
  const double rate = Median(entrant.rates);
  std::printf(
      "{\"bench\": \"random\", \"record_bytes\": %llu, \"cache\": \"%s\", \"entrant\": \"%s\", "
      "\"records_per_s\": %.0f, \"us_per_record\": %.2f, \"mb_per_s\": %.1f, "
      "\"ceiling_records_per_s\": %.0f, \"ratio\": %.3f}\n",
      static_cast<unsigned long long>(record_bytes), cold ? "cold" : "warm", entrant.name.c_str(),
      rate, 1e6 / rate, rate * static_cast<double>(record_bytes) / 1e6, ceiling, rate / ceiling);
  std::fflush(stdout);
}

void Run(const Split& split, uint64_t record_bytes, bool cold, size_t count, int rounds) {
  auto entrants = Entrants(split, cold);
  uint64_t turn = 0;
  for (int round = 0; round < rounds; ++round) {
    for (Entrant& entrant : entrants) {
      const Ids ids = TakeIds(split, count, cold ? turn++ : 0);
      if (cold) split.Drop();
      if (!cold && round == 0) entrant.read(ids);  // so that all of it is in the cache
      entrant.rates.push_back(static_cast<double>(count) / Seconds([&] { entrant.read(ids); }));
    }
  }
  double ceiling = 0;
  for (const Entrant& entrant : entrants) {
    if (entrant.ceiling) ceiling = std::max(ceiling, Median(entrant.rates));
  }
  for (const Entrant& entrant : entrants) Print(entrant, record_bytes, cold, ceiling);
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: random_bench FOLDER [ROUNDS]\n");
    return 2;
  }
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  try {
    for (const uint64_t record_bytes : {uint64_t{3080}, uint64_t{100'000}}) {
      const recpack::Split split(argv[1], record_bytes);
      const bool small = record_bytes < 10'000;
      recpack::Run(split, record_bytes, false, small ? 200'000 : 8'000, rounds);
      recpack::Run(split, record_bytes, true, small ? 10'000 : 2'000, rounds);
    }
  } catch (const recpack::Error& error) {
    std::fprintf(stderr, "random_bench: %s\n", error.what());
    return 2;
  }
}
