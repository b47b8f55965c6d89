// Reading shards in order, CRCs checked, beside a bare loop over the same bytes.
//
//   read_bench read|bare|mapped FOLDER [--threads N] [--rounds N] [--buffer BYTES]
//
// `read` is ReadShards() by an index, which is made before the time counts: a data set has one.
// `bare` is the least that the work needs: preads of 0.9 MB into one buffer, and the CRC of each
// payload and each length; frames that span two reads are not even put together. `mapped` checks
// the same CRCs in mappings that were there before the time counts: nothing is copied.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>

#include "bench/record/timing.h"
#include "recpack/base/parallel.h"
#include "recpack/record/crc32c.h"
#include "recpack/record/framing.h"
#include "recpack/record/index.h"
#include "recpack/record/parallel.h"

namespace recpack {
namespace {

std::vector<std::string> ShardsIn(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.find(".tfrecord") != name.npos && !name.ends_with(".idx"))
      paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

Index IndexOf(const std::vector<std::string>& paths) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("read-bench-" + std::to_string(::getpid()));
  IndexWriter writer(PosixFiles().Create(path));
  for (const auto& shard : paths) writer.AddShard(ScanShard(PosixFiles(), shard, false));
  writer.Finish(false);
  Index index = Index::Open(path);
  PosixFiles().Remove(path);  // the mapping stays
  return index;
}

// A counter a thread, each on its own cache line.
struct alignas(128) Counter {
  uint64_t records = 0;
  uint64_t bytes = 0;
};

bench::Pass Sum(const std::vector<Counter>& counters) {
  bench::Pass pass;
  for (const Counter& counter : counters) {
    pass.records += counter.records;
    pass.bytes += counter.bytes;
  }
  return pass;
}

bench::Pass Read(const Index& index, const std::string& folder, int threads) {
  std::vector<Counter> counters(static_cast<size_t>(threads));
  ReadShards(index, folder, threads, {}, [&](const ShardRecord& at) {
    ++counters[at.worker].records;
    counters[at.worker].bytes += at.record.payload.size();
  });
  return Sum(counters);
}

void CheckFrame(const uint8_t* frame, uint64_t length, Counter& counter) {
  if (!FrameHeaderHolds(frame) || !FramePayloadHolds({frame + kFrameHeaderBytes, length})) {
    std::abort();
  }
  ++counter.records;
  counter.bytes += length;
}

void CheckMapped(ByteView shard, Counter& counter) {
  for (size_t at = 0; at + kFrameBytes <= shard.size();) {
    const uint64_t length = FrameLength(&shard[at]);
    CheckFrame(&shard[at], length, counter);
    at += length + kFrameBytes;
  }
}

void ReadBare(const std::string& path, ByteBuffer& buffer, Counter& counter) {
  const auto file = PosixFiles().OpenForReading(path);
  uint64_t offset = 0;
  for (;;) {
    const size_t got = file->ReadAt(offset, buffer);
    size_t at = 0;
    while (at + kFrameBytes <= got) {
      const uint64_t length = FrameLength(&buffer[at]);
      if (length > got - at - kFrameBytes) break;
      CheckFrame(&buffer[at], length, counter);
      at += length + kFrameBytes;
    }
    if (at == 0) return;
    offset += at;  // the frame that was cut is read again with what follows
  }
}

bench::Pass Bare(const std::vector<std::string>& paths, std::vector<ByteBuffer>& buffers) {
  const int threads = static_cast<int>(buffers.size());
  std::vector<Counter> counters(buffers.size());
  ParallelFor(paths.size(), threads, [&](size_t worker, size_t i) {
    ReadBare(paths[i], buffers[worker], counters[worker]);
  });
  return Sum(counters);
}

bench::Pass Mapped(const std::vector<MappedFile>& shards, int threads) {
  std::vector<Counter> counters(static_cast<size_t>(threads));
  ParallelFor(shards.size(), threads,
              [&](size_t worker, size_t i) { CheckMapped(shards[i].bytes(), counters[worker]); });
  return Sum(counters);
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) {
  const std::string job = argc > 2 ? argv[1] : "";
  if (job != "read" && job != "bare" && job != "mapped") {
    std::fprintf(stderr, "usage: read_bench read|bare|mapped FOLDER [--threads N] [--rounds N]\n");
    return 2;
  }
  const auto paths = recpack::ShardsIn(argv[2]);
  const int threads = std::stoi(recpack::bench::Flag(argc, argv, "--threads", "1"));
  const int rounds = std::stoi(recpack::bench::Flag(argc, argv, "--rounds", "5"));
  const recpack::Index index = recpack::IndexOf(paths);
  // No other size was faster, from 64 KB to 1 MB.
  const size_t size = std::stoul(recpack::bench::Flag(argc, argv, "--buffer", "900000"));
  std::vector<recpack::ByteBuffer> buffers(static_cast<size_t>(threads), recpack::ByteBuffer(size));
  std::vector<recpack::MappedFile> shards;
  for (size_t i = 0; job == "mapped" && i < paths.size(); ++i) shards.emplace_back(paths[i]);
  recpack::bench::Measure(job, threads, rounds, [&] {
    if (job == "mapped") return recpack::Mapped(shards, threads);
    return job == "read" ? recpack::Read(index, argv[2], threads) : recpack::Bare(paths, buffers);
  });
  return 0;
}
