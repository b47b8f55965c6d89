#include "src/ceiling/ceiling.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/random.h"
#include "recpack/image/decode.h"
#include "recpack/record/crc32c.h"
#include "recpack/record/reader.h"
#include "src/ceiling/timed.h"

namespace recpack::ceiling {
namespace {

constexpr size_t kUncached = size_t{32} << 20;  // bytes per thread, and as much again to copy to
constexpr size_t kLeast = size_t{4} << 20;
constexpr size_t kPiece = size_t{1} << 20;  // bytes between two checks of the clock

// Returns the size of each of a thread's two buffers, a multiple of kPiece.
size_t UncachedBytes(const CeilingOptions& options) {
  const size_t fair = options.memory / (2 * static_cast<size_t>(options.threads));
  return std::clamp(fair, kLeast, kUncached) / kPiece * kPiece;
}

}  // namespace

Rate CopyCeiling(const CeilingOptions& options) {
  return Timed(options, [size = UncachedBytes(options)](size_t) -> Work {
    const auto from = std::make_shared<ByteBuffer>(size, uint8_t{1});
    const auto to = std::make_shared<ByteBuffer>(size, uint8_t{2});
    return [from, to, at = std::make_shared<size_t>(0)] {
      std::memcpy(to->data() + *at, from->data() + *at, kPiece);
      *at = (*at + kPiece) % to->size();
      return double{kPiece};
    };
  });
}

Rate StoreCeiling(const CeilingOptions& options) {
  return Timed(options, [size = UncachedBytes(options)](size_t) -> Work {
    const auto to = std::make_shared<ByteBuffer>(size, uint8_t{2});
    return [to, value = uint8_t{0}]() mutable {
      std::memset(to->data(), ++value, to->size());
      return static_cast<double>(to->size());
    };
  });
}

Rate ComputeCeiling(const CeilingOptions& options) {
  return Timed(options, [](size_t thread) -> Work {
    return [random = KeyedRandom(0, 0, thread), sum = std::make_shared<uint32_t>(0)]() mutable {
      constexpr int kNumbers = 20'000;
      for (int i = 0; i < kNumbers; ++i) *sum ^= random.NextU32();
      return double{kNumbers};
    };
  });
}

Rate CrcCeiling(size_t bytes, const CeilingOptions& options) {
  if (bytes == 0) return {.unavailable = "no bytes to check"};
  return Timed(options, [bytes](size_t) -> Work {
    const auto buffer = std::make_shared<ByteBuffer>(bytes, uint8_t{3});
    const size_t rounds = (kPiece / 8 + bytes - 1) / bytes;
    return [buffer, rounds] {
      uint32_t crc = 0;
      for (size_t i = 0; i < rounds; ++i) {
        crc ^= Crc32c(*buffer);
        buffer->front() = static_cast<uint8_t>(crc);  // keeps the compiler from removing calls
      }
      return static_cast<double>(rounds * buffer->size());
    };
  });
}

Rate InflateCeiling(const std::string& shard, const CeilingOptions& options) {
  try {
    if (RecordReader(PosixFiles().OpenForReading(shard), {}).compression() == Compression::kNone) {
      return {.unavailable = shard + " is not compressed"};
    }
  } catch (const Error& error) {
    return {.unavailable = error.what()};
  }
  return Timed(options, [&shard](size_t) -> Work {
    const auto reader = std::make_shared<std::unique_ptr<RecordReader>>();
    return [reader, &shard] {
      double bytes = 0;
      Record record;
      while (bytes < kPiece) {
        if (!*reader) {
          *reader = std::make_unique<RecordReader>(PosixFiles().OpenForReading(shard),
                                                   ReaderOptions{.verify = false});
        }
        if ((*reader)->Next(record)) {
          bytes += static_cast<double>(record.payload.size());
        } else {
          reader->reset();
          if (bytes == 0) bytes = 1;  // empty shard
        }
      }
      return bytes;
    };
  });
}

Rate JpegCeiling(std::span<const ByteView> pictures, const CeilingOptions& options) {
  if (pictures.empty()) return {.unavailable = "there are no JPEGs"};
  return Timed(options, [pictures](size_t thread) -> Work {
    struct Tools {
      ImageDecoder decoder;
      Image image;
      size_t next;
    };
    const auto tools = std::make_shared<Tools>();
    tools->next = thread;
    return [tools, pictures] {
      tools->decoder.Decode(pictures[tools->next++ % pictures.size()], {}, tools->image);
      return 1.0;
    };
  });
}

}  // namespace recpack::ceiling
