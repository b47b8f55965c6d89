#include "src/pack/job/shard_file.h"

#include "recpack/base/bytes.h"

namespace recpack::pack {

RecordWriter StartShard(const std::string& path, const PackOptions& options) {
  WriterOptions writer = options.writer;
  writer.start_sync = options.sync;
  return {options.files->Create(path), writer};
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

void PublishShard(const std::string& file, const Sidecar& sidecar, const PackFolder& folder,
                  const PackOptions& options) {
  WriteFileAtomically(*options.files, SidecarPath(options.out, file),
                      AsBytes(SidecarToJson(sidecar)), options.sync);
  options.files->Rename(folder.TemporaryPath(file), folder.ShardPath(file), options.sync);
}

}  // namespace recpack::pack
