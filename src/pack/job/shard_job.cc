#include "src/pack/job/shard_job.h"

#include "recpack/base/parallel.h"
#include "recpack/base/temporaries.h"
#include "recpack/record/writer.h"
#include "src/pack/job/item_team.h"
#include "src/pack/job/shard_content.h"
#include "src/pack/job/shard_file.h"

namespace recpack::pack {
namespace {

ItemReader& GetReader(const JobState& job, ReaderSlot& reader) {
  if (!reader) reader = job.source.NewReader();
  return *reader;
}

// Returns false if the job is to stop.
bool WriteItems(JobState& job, const PlannedShard& shard, std::span<ReaderSlot> readers,
                ShardContent& content) {
  if (readers.size() == 1) return content.WriteAll(GetReader(job, readers[0]));
  ItemTeam team(job.source, job.plan, shard, readers.size(),
                [&](const PreparedItems& batch) { return content.Write(batch); });
  ParallelFor(readers.size(), static_cast<int>(readers.size()),
              [&](size_t, size_t i) { team.Work(GetReader(job, readers[i])); });
  return team.done();
}

}  // namespace

bool PackShard(JobState& job, const PlannedShard& shard, std::span<ReaderSlot> readers,
               Sidecar& sidecar) {
  const PackOptions& options = job.options;
  TemporaryFile temporary(job.folder.TemporaryPath(shard.file));
  RecordWriter writer = StartShard(job.folder.TemporaryPath(shard.file), options);
  ShardContent content(job, shard, writer, sidecar);
  if (!WriteItems(job, shard, readers, content)) return false;
  sidecar.schema = content.Schema();
  writer.Finish(options.sync);

  sidecar.shard = DescribeShard(writer, shard.file);
  WriteIndexPart(writer.entries(), shard.file, job.folder.IndexPartPath(shard.file), options);
  PublishShard(shard.file, sidecar, job.folder, options);
  temporary.Keep();
  return true;
}

}  // namespace recpack::pack
