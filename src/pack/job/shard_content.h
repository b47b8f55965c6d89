// Writes the items of one shard and collects their statistics.
#pragma once

#include <cstdint>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/example/schema.h"
#include "recpack/example/view.h"
#include "recpack/record/writer.h"
#include "src/pack/item/source.h"
#include "src/pack/job/prepared_items.h"
#include "src/pack/job/shard_job.h"
#include "src/shards/manifest/manifest.h"
#include "src/shards/manifest/sidecar.h"

namespace recpack::pack {

// Writes the sample and returns its payload, which is valid until the next record. Throws Error as
// ExampleBuilder::ByteSize() and RecordWriter::Begin() do.
ByteView WriteSample(Sample& sample, RecordWriter& writer);

// Infers the schema from the first records of a shard.
class SchemaSample {
 public:
  void Add(ByteView payload);
  std::vector<ManifestFeature> Finish() const;

 private:
  static constexpr uint64_t kRecords = 100;
  ExampleView view_;
  SchemaBuilder schema_;
  bool given_up_ = false;
};

// Writes the items of a shard in order. Not thread-safe. The arguments must outlive it.
class ShardContent {
 public:
  ShardContent(JobState& job, const PlannedShard& shard, RecordWriter& writer, Sidecar& sidecar)
      : job_(job), shard_(shard), writer_(writer), sidecar_(sidecar) {}

  // Reads and writes the items one by one. Returns false if the job is to stop. Throws Error.
  bool WriteAll(ItemReader& reader);

  // Writes a batch that another thread prepared. Same result and errors as WriteAll().
  bool Write(const PreparedItems& batch);

  std::vector<ManifestFeature> Schema() const { return schema_.Finish(); }

 private:
  bool WriteOne(uint64_t item, ItemReader& reader, Sample& sample);
  bool WritePrepared(const PreparedItem& item);
  bool Skip(uint64_t item, const Error& error);
  void Count(ByteView payload, int64_t label);
  void Report(uint64_t item);

  JobState& job_;
  const PlannedShard& shard_;
  RecordWriter& writer_;
  Sidecar& sidecar_;
  SchemaSample schema_;
};

}  // namespace recpack::pack
