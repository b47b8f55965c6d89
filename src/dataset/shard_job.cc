#include "src/dataset/shard_job.h"

#include <filesystem>
#include <string>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/example/schema.h"
#include "recpack/example/view.h"
#include "recpack/record/index.h"
#include "recpack/record/writer.h"
#include "src/dataset/manifest_schema.h"
#include "src/dataset/write_sample.h"

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

// Learns the schema from the first records of a shard.
class SchemaSample {
 public:
  void Add(ByteView payload) {
    if (given_up_ || schema_.records() >= kRecords) return;
    try {
      view_.Parse(payload);
      schema_.Add(view_);
    } catch (const Error&) {  // somebody else's records, passed on as they are: no schema
      given_up_ = true;
      schema_ = {};
    }
  }
  std::vector<ManifestFeature> Finish() const { return ToManifest(schema_.Finish()); }

 private:
  static constexpr uint64_t kRecords = 100;
  ExampleView view_;
  SchemaBuilder schema_;
  bool given_up_ = false;
};

// A bad item stops the job; the user may not know that it need not.
Error WithWayOut(const Error& error) {
  const std::string advice = error.advice().empty() ? "" : error.advice() + "; ";
  return Error(error.kind(), error.reason(), error.place(),
               advice + "--on-error skip leaves bad items out");
}

// Notes the bad item. False where that was one too many.
bool Skip(JobState& job, const PlannedShard& shard, uint64_t item, const Error& error,
          Sidecar& sidecar) {
  sidecar.skipped.push_back({.split = job.plan.splits[shard.split].name,
                             .item = job.source.ItemName(shard.split, item),
                             .reason = error.what()});
  if (job.skipped.fetch_add(1) + 1 <= job.skip_limit) return true;
  job.stop = true;
  return false;
}

// Reads and writes the items of the shard. False where the job is to stop.
bool WriteItems(JobState& job, const PlannedShard& shard, ItemReader& reader, RecordWriter& writer,
                Sidecar& sidecar) {
  const PackingOrder order(job.plan, shard.split);
  Sample sample;
  SchemaSample schema;
  for (uint64_t position = shard.begin; position < shard.end; ++position) {
    if (job.stop.load(std::memory_order_relaxed)) return false;
    const uint64_t item = order(position);
    sample.features.Clear();
    sample.payload = {};
    sample.label = -1;
    bool read = true;
    try {
      reader.Read(shard.split, item, sample);
    } catch (const Error& error) {
      if (!job.options.skip_bad_items) throw WithWayOut(error);
      if (!Skip(job, shard, item, error, sidecar)) return false;
      read = false;
    }
    if (read) {
      schema.Add(WriteSample(sample, writer));
      if (sample.label >= 0) ++sidecar.class_counts[sample.label];
    }
    if (job.on_item) job.on_item(job.source.ItemBytes(shard.split, item));
  }
  sidecar.schema = schema.Finish();
  return true;
}

void WriteIndexPart(const ShardEntries& entries, const std::string& path,
                    const PackOptions& options) {
  IndexWriter index(options.files->Create(path));
  index.AddShard(entries);
  index.Finish(options.sync);
}

}  // namespace

bool PackShard(JobState& job, const PlannedShard& shard, ItemReader& reader, Sidecar& sidecar) {
  const PackOptions& options = job.options;
  TemporaryShard temporary(job.folder.TemporaryPath(shard.file));
  RecordWriter writer(options.files->Create(job.folder.TemporaryPath(shard.file)), options.writer);
  if (!WriteItems(job, shard, reader, writer, sidecar)) return false;
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
