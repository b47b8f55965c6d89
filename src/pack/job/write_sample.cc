#include "src/pack/job/write_sample.h"

#include <algorithm>
#include <span>

namespace recpack::pack {

ByteView WriteSample(Sample& sample, RecordWriter& writer) {
  const std::span<uint8_t> room =
      writer.Begin(sample.is_finished() ? sample.payload.size() : sample.features.ByteSize());
  if (sample.is_finished()) {
    std::ranges::copy(sample.payload, room.begin());
  } else {
    sample.features.SerializeTo(room.data());
  }
  writer.End();
  return room;
}

}  // namespace recpack::pack
