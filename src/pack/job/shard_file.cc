#include "src/pack/job/shard_file.h"

#include <algorithm>
#include <span>

namespace recpack::pack {

RecordWriter StartShard(const std::string& path, const PackOptions& options) {
  WriterOptions writer = options.writer;
  writer.start_sync = options.sync;
  return {options.files->Create(path), writer};
}

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

ManifestShard DescribeShard(const RecordWriter& writer, const std::string& file) {
  const ShardEntries& entries = writer.entries();
  return {.file = file,
          .records = entries.lengths.size(),
          .bytes = entries.file_bytes,
          .compression = entries.compression,
          .sha256 = writer.digest()};
}

void WriteIndexPart(ShardEntries entries, const std::string& file, const std::string& path,
                    const PackOptions& options) {
  entries.name = file;
  IndexWriter index(options.files->Create(path));
  index.AddShard(entries);
  index.Finish(options.sync);
}

}  // namespace recpack::pack
