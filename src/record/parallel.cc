#include "recpack/record/parallel.h"

#include "recpack/base/parallel.h"

namespace recpack {

void ReadShards(std::span<const std::string> paths, int threads, const ReaderOptions& options,
                const std::function<void(const ShardRecord&)>& on_record, FileSystem& files) {
  ParallelFor(paths.size(), threads, [&](size_t worker, size_t shard) {
    RecordReader reader(files.OpenForReading(paths[shard]), options);
    ShardRecord at{.worker = worker, .shard = shard, .record = {}};
    while (reader.Next(at.record)) on_record(at);
  });
}

}  // namespace recpack
