#include "src/dataset/shard_job.h"

#include <filesystem>
#include <string>
#include <utility>

#include "recpack/base/parallel.h"
#include "recpack/record/index.h"
#include "recpack/record/writer.h"
#include "src/dataset/item_team.h"
#include "src/dataset/shard_content.h"

namespace recpack {
namespace {

// Removes the temporary file unless it was published.
class TemporaryShard {
 public:
  explicit TemporaryShard(std::string path) : path_(std::move(path)) {}
  ~TemporaryShard() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove(path_, ignored);
  }
  TemporaryShard(const TemporaryShard&) = delete;

  void Keep() { path_.clear(); }

 private:
  std::string path_;
};

ItemReader& ReaderOf(const JobState& job, ReaderSlot& reader) {
  if (!reader) reader = job.source.NewReader();
  return *reader;
}

// False where the job is to stop.
bool WriteItems(JobState& job, const PlannedShard& shard, std::span<ReaderSlot> readers,
                ShardContent& content) {
  if (readers.size() == 1) return content.WriteAll(ReaderOf(job, readers[0]));
  ItemTeam team(job.source, job.plan, shard, readers.size(),
                [&](const PreparedItems& batch) { return content.Write(batch); });
  ParallelFor(readers.size(), static_cast<int>(readers.size()),
              [&](size_t, size_t i) { team.Work(ReaderOf(job, readers[i])); });
  return team.done();
}

void WriteIndexPart(const ShardEntries& entries, const std::string& path,
                    const PackOptions& options) {
  IndexWriter index(options.files->Create(path));
  index.AddShard(entries);
  index.Finish(options.sync);
}

}  // namespace

bool PackShard(JobState& job, const PlannedShard& shard, std::span<ReaderSlot> readers,
               Sidecar& sidecar) {
  const PackOptions& options = job.options;
  TemporaryShard temporary(job.folder.TemporaryPath(shard.file));
  RecordWriter writer(options.files->Create(job.folder.TemporaryPath(shard.file)), options.writer);
  ShardContent content(job, shard, writer, sidecar);
  if (!WriteItems(job, shard, readers, content)) return false;
  sidecar.schema = content.Schema();
  writer.Finish(options.sync);

  ShardEntries entries = writer.entries();
  entries.name = shard.file;
  sidecar.shard = {.file = shard.file,
                   .records = entries.lengths.size(),
                   .bytes = entries.file_bytes,
                   .compression = options.writer.compression,
                   .sha256 = writer.digest()};
  WriteIndexPart(entries, job.folder.IndexPartPath(shard.file), options);
  job.folder.Publish(shard.file, sidecar);
  temporary.Keep();
  return true;
}

}  // namespace recpack
