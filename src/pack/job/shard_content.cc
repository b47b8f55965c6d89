#include "src/pack/job/shard_content.h"

#include <algorithm>
#include <exception>
#include <span>
#include <string>

#include "recpack/record/framing.h"
#include "src/shards/files/system_errors.h"
#include "src/shards/manifest/manifest_schema.h"

namespace recpack::pack {
namespace {

constexpr uint64_t kAnnounced = 64;  // items of a remote source that are fetched ahead

// Adds to the error of a bad item that --on-error skip would leave it out.
Error WithWayOut(const Error& error) {
  const std::string advice = error.advice().empty() ? "" : error.advice() + "; ";
  return Error(error.kind(), error.reason(), error.place(),
               advice + "--on-error skip leaves out bad items", error.error_number());
}

}  // namespace

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

void SchemaSample::Add(ByteView payload) {
  if (given_up_ || schema_.records() >= kRecords) return;
  try {
    view_.Parse(payload);
    schema_.Add(view_);
  } catch (const Error&) {  // not an Example, such as a foreign record: no schema
    given_up_ = true;
    schema_ = {};
  }
}

std::vector<ManifestFeature> SchemaSample::Finish() const { return ToManifest(schema_.Finish()); }

bool ShardContent::WriteAll(ItemReader& reader) {
  const PackingOrder order(job_.plan, shard_.split);
  Sample sample;
  const uint64_t ahead = job_.source.items_are_remote() ? kAnnounced : 0;
  uint64_t announced = shard_.begin;
  for (uint64_t position = shard_.begin; position < shard_.end; ++position) {
    for (; announced < std::min(shard_.end, position + ahead); ++announced) {
      reader.Announce(shard_.split, order(announced));
    }
    if (job_.stop.load(std::memory_order_relaxed)) return false;
    if (!WriteOne(order(position), reader, sample)) return false;
  }
  return true;
}

bool ShardContent::Write(const PreparedItems& batch) {
  if (job_.stop.load(std::memory_order_relaxed)) return false;
  for (const PreparedItem& item : batch.items()) {
    if (!WritePrepared(item)) return false;
    Report(item.item);
  }
  return true;
}

bool ShardContent::WriteOne(uint64_t item, ItemReader& reader, Sample& sample) {
  sample.Clear();
  bool read = true;
  try {
    reader.Read(shard_.split, item, sample);
  } catch (const Error& error) {
    if (!Skip(item, error)) return false;
    read = false;
  }
  if (read) Count(WriteSample(sample, writer_), sample.label);
  Report(item);
  return true;
}

bool ShardContent::WritePrepared(const PreparedItem& item) {
  if (item.encode_error) std::rethrow_exception(item.encode_error);
  if (item.read_error) {
    try {
      std::rethrow_exception(item.read_error);
    } catch (const Error& error) {
      return Skip(item.item, error);
    }
  }
  writer_.WriteFrame(item.frame);
  Count(item.frame.subspan(kFrameHeaderBytes, item.frame.size() - kFrameBytes), item.label);
  return true;
}

// Records the bad item. Throws its error if items may not be skipped, or if the item did not cause
// it. Returns false if too many items were skipped.
bool ShardContent::Skip(uint64_t item, const Error& error) {
  if (IsResourceLimit(error)) throw error;
  if (job_.source.items_are_remote() && error.kind() == ErrorKind::kIo) throw error;
  if (!job_.options.skip_bad_items) throw WithWayOut(error);
  sidecar_.skipped.push_back({.split = job_.plan.splits[shard_.split].name,
                              .item = job_.source.ItemName(shard_.split, item),
                              .reason = error.what()});
  if (job_.skipped.fetch_add(1) + 1 <= job_.skip_limit) return true;
  job_.stop = true;
  return false;
}

void ShardContent::Count(ByteView payload, int64_t label) {
  schema_.Add(payload);
  if (label >= 0) ++sidecar_.class_counts[label];
}

void ShardContent::Report(uint64_t item) {
  if (job_.on_item) job_.on_item(job_.source.ItemBytes(shard_.split, item));
}

}  // namespace recpack::pack
