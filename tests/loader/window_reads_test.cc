// Reads of a loader with a window order, counted by the file system below it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <set>

#include "recpack/loader/token.h"
#include "src/base/format.h"
#include "tests/base/real_files.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

constexpr uint32_t kBlock = 40, kLanes = 8, kWindowBlocks = 2;
constexpr uint64_t kRounds = 7;  // the last window of each lane has one block
constexpr uint64_t kInLanes = kRounds * kLanes * kBlock;
constexpr uint64_t kRecords = kInLanes + 3 * kBlock + 20;
constexpr uint64_t kRow = kLanes * kWindowBlocks * kBlock;
constexpr uint64_t kAhead = 512;  // at least this many samples

struct Access {
  bool told;  // announced ahead; otherwise read
  std::string path;
  uint64_t offset;
  uint64_t size;

  uint64_t end() const { return offset + size; }
};

// The real file system, with a log of all accesses. Files have no descriptors, so that nothing
// bypasses it.
class LoggingFiles final : public RealFiles {
 public:
  std::unique_ptr<ReadableFile> OpenForReading(const std::string& path) override {
    return std::make_unique<File>(PosixFiles().OpenForReading(path), *this);
  }

  std::vector<Access> log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

 private:
  class File final : public ReadThrough {
   public:
    File(std::unique_ptr<ReadableFile> file, LoggingFiles& files)
        : ReadThrough(std::move(file)), files_(files) {}
    size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
      // Except for the last bytes, which are read once to compare a shard with its index.
      const bool is_tail = out.size() <= 8 && offset + out.size() == Size();
      if (!is_tail) files_.Add({false, path(), offset, out.size()});
      return ReadThrough::ReadAt(offset, out);
    }
    void WillNeed(uint64_t offset, uint64_t size) const noexcept override {
      files_.Add({true, path(), offset, size});
    }

   private:
    LoggingFiles& files_;
  };

  void Add(Access access) {
    const std::lock_guard lock(mutex_);
    log_.push_back(std::move(access));
  }

  std::mutex mutex_;
  std::vector<Access> log_;
};

// Activity of a rank in an epoch.
struct Epoch {
  std::vector<uint64_t> ids;       // delivered
  std::vector<uint64_t> of_lanes;  // of these, the ones in lanes
  std::vector<Access> told;        // in order of request
  uint64_t told_bytes = 0;
  uint64_t read_bytes = 0;
  uint64_t longest_read = 0;
  uint64_t most_waiting = 0;  // bytes announced but not yet read
  bool all_told_first = true;
};

class WindowReads : public testing::Test {
 protected:
  // The log continues into the next epoch; with one thread, all of this epoch comes first.
  Epoch Run(uint32_t world, uint32_t rank, uint64_t begin = 0) {
    LoggingFiles files;
    Epoch epoch;
    {
      LoaderOptions options{.fields = SmallFields(),
                            .batch_size = 16,
                            .seed = 8,
                            .rank = rank,
                            .world_size = world,
                            .last_batch = LastBatch::kKeep,
                            .threads = 1,
                            .prefetch = 2};
      options.order = ParseOrder(format("window:{}:{}:{}", kBlock, kLanes, kWindowBlocks));
      if (begin > 0) {
        options.resume = TokenText({dataset_.digest(), options.order, options.seed, 0, begin, 0});
      }
      options.source.backend = RandomAccessOptions::Backend::kPread;
      Loader loader(Dataset::Open(split_.folder(), {.files = &files}), options);
      while (const auto batch = loader.Next()) {
        epoch.ids.insert(epoch.ids.end(), batch->ids().begin(),
                         batch->ids().begin() + batch->size());
      }
    }
    for (size_t i = 0; i < epoch.ids.size(); ++i) {
      if (begin + i * world + rank < kInLanes) epoch.of_lanes.push_back(epoch.ids[i]);
    }
    const auto log = files.log();
    size_t reads = 0;
    for (const Access& access : log) {
      if (access.told || reads++ >= epoch.ids.size()) continue;
      epoch.read_bytes += access.size;
      epoch.longest_read = std::max(epoch.longest_read, access.size);
    }
    uint64_t read = 0;
    reads = 0;
    for (const Access& access : log) {
      if (access.told && epoch.told_bytes < epoch.read_bytes) {
        epoch.told.push_back(access);
        epoch.told_bytes += access.size;
        epoch.most_waiting = std::max(epoch.most_waiting, epoch.told_bytes - read);
      } else if (!access.told && reads++ < epoch.ids.size()) {
        read += access.size;
        epoch.all_told_first &= std::ranges::any_of(epoch.told, [&](const Access& told) {
          return told.offset <= access.offset && access.end() <= told.end() &&
                 told.path == access.path;
        });
      }
    }
    return epoch;
  }

  // How often a lane block with records of this rank was begun or revisited, and how many such
  // blocks there are.
  std::pair<uint64_t, uint64_t> Visits(const Epoch& epoch) const {
    std::map<std::pair<std::string, uint64_t>, uint64_t> block_at;
    for (const uint64_t id : epoch.of_lanes) {
      const Place place = dataset_.FindPlace(id);
      block_at[{place.path, *place.offset}] = id / kBlock;
    }
    std::set<uint64_t> blocks;
    uint64_t visits = 0, last = kRecords;
    for (const Access& told : epoch.told) {
      for (auto at = block_at.lower_bound({told.path, told.offset});
           at != block_at.end() && at->first < std::pair(told.path, told.end()); ++at) {
        blocks.insert(at->second);
        visits += at->second != last;
        last = at->second;
      }
    }
    return {visits, blocks.size()};
  }

  uint64_t Seeks(const Epoch& epoch) const {
    uint64_t seeks = 0;
    const Access* last = nullptr;
    for (const Access& told : epoch.told) {
      seeks += last == nullptr || last->path != told.path || last->end() != told.offset;
      last = &told;
    }
    return seeks;
  }

  uint64_t FrameBytes(const std::vector<uint64_t>& ids) const {
    uint64_t bytes = 0;
    for (const uint64_t id : ids) bytes += frame_bytes_[id];
    return bytes;
  }

  void SetUp() override {
    for (uint64_t id = 0; id < kRecords; ++id) {
      const Place at = dataset_.FindPlace(id);
      uint64_t end = std::filesystem::file_size(at.path);
      if (id + 1 < kRecords && dataset_.FindPlace(id + 1).path == at.path) {
        end = *dataset_.FindPlace(id + 1).offset;
      }
      frame_bytes_.push_back(end - *at.offset);
    }
  }

  // Checks that hold for any number of ranks and any start position.
  void Check(const Epoch& epoch, uint32_t world) {
    EXPECT_EQ(epoch.read_bytes, FrameBytes(epoch.ids)) << "each record is read once, and no more";
    EXPECT_EQ(epoch.told_bytes, epoch.read_bytes);
    EXPECT_TRUE(epoch.all_told_first);
    // No record of a window is held except the current one; what was announced to the kernel is
    // what is needed next and the rest of a row of windows.
    const uint64_t longest = *std::ranges::max_element(frame_bytes_);
    EXPECT_LE(epoch.longest_read, longest);
    const uint64_t row = kRow / world + kLanes;
    EXPECT_LE(epoch.most_waiting, (std::max(kAhead, row) + row) * longest);
    const auto [visits, blocks] = Visits(epoch);
    EXPECT_EQ(visits, blocks) << "a block that was left is not come back to";
  }

  const SmallSplit split_{kRecords, 2};
  const Dataset dataset_ = Dataset::Open(split_.folder());
  std::vector<uint64_t> frame_bytes_;
};

// A rank reads each block of its own lanes whole, in one go.
TEST_F(WindowReads, ABlockIsOneSeekWhereTheRanksDivideTheLanes) {
  for (const uint32_t world : {1, 2, 4, 8}) {
    std::set<uint64_t> all;
    for (uint32_t rank = 0; rank < world; ++rank) {
      SCOPED_TRACE(format("rank {} of {}", rank, world));
      const Epoch epoch = Run(world, rank);
      Check(epoch, world);
      std::set<uint64_t> blocks;
      for (const uint64_t id : epoch.of_lanes) blocks.insert(id / kBlock);
      EXPECT_EQ(blocks.size(), kRounds * kLanes / world);
      all.insert(blocks.begin(), blocks.end());
      // One more if a block lies in two shards; the end of the epoch is another window.
      EXPECT_LE(Seeks(epoch), blocks.size() + 1 + (epoch.ids.size() - epoch.of_lanes.size()));
    }
    EXPECT_EQ(all.size(), kRounds * kLanes) << "each block is one rank's";
  }
}

// With g the greatest common divisor of both, a rank needs some records of the blocks of lanes / g
// lanes: it passes over each of these blocks once, forwards, and reads what it needs.
TEST_F(WindowReads, OtherRanksPassTheirBlocksOnce) {
  for (const uint32_t world : {3, 5, 6, 12}) {
    for (uint32_t rank = 0; rank < world; ++rank) {
      SCOPED_TRACE(format("rank {} of {}", rank, world));
      const Epoch epoch = Run(world, rank);
      Check(epoch, world);
      const uint64_t lanes = kLanes / std::gcd(kLanes, world);
      EXPECT_LE(Visits(epoch).first, lanes * kRounds);
    }
  }
}

TEST_F(WindowReads, ALoaderThatGoesOnReadsOnlyTheRest) {
  for (const uint32_t world : {1, 2, 3}) {
    for (const uint64_t begin : {kRow / 2 + 5, kRow, 3 * kRow - 1, kInLanes - 3, kInLanes + 4}) {
      SCOPED_TRACE(format("{} ranks from {}", world, begin));
      Check(Run(world, world - 1, begin), world);
    }
  }
}

}  // namespace
}  // namespace recpack
