#include "src/pack/check/verify_shard.h"

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/hash.h"
#include "recpack/example/view.h"
#include "recpack/image/decode.h"
#include "recpack/record/reader.h"
#include "src/base/format.h"
#include "src/pack/check/picture_features.h"
#include "src/remote/store/data_files.h"

namespace recpack::pack {
namespace {

void DecodeImages(const ExampleView& view, const PictureFeatures& pictures) {
  for (const auto& feature : view) {
    if (feature.kind() != FeatureKind::kBytes) continue;
    const bool must_be = pictures.MustBePicture(view, feature.name());
    for (const ByteView value : feature.bytes_values()) {
      if (!must_be && !BeginsAsPicture(value)) continue;
      try {
        DecodeImage(value, {});
      } catch (const Error& error) {
        throw Error(error.kind(), format("feature '{}': {}", feature.name(), error.reason()));
      }
    }
  }
}

void CheckRecord(const Record& record, ExampleView& view, ShardTask& task) {
  try {
    view.Parse(record.payload);
    if (task.pictures != nullptr) DecodeImages(view, *task.pictures);
  } catch (const Error& error) {
    task.Add(error.reason(), record.offset, record.ordinal);
  }
}

void ReadRecords(ShardTask& task) {
  RecordReader reader(remote::DataFiles().OpenForReading(task.path),
                      {.on_damage = ReaderOptions::OnDamage::kResynchronise});
  ExampleView view;
  IndexCheck index(task.indexed, task.path, task.bytes);
  for (Record record; reader.Next(record);) {
    ++task.records;
    if (!reader.damages().empty()) index.Stop();
    index.See(record);
    CheckRecord(record, view, task);
  }
  if (reader.damages().empty()) index.Finish(task.records);
  task.of_index = index.difference();
  for (const Damage& damage : reader.damages()) {
    task.Add(damage.lost ? format("{} ({} records lost)", damage.reason, *damage.lost)
                         : format("{} (unknown number of records lost)", damage.reason),
             damage.offset, damage.ordinal);
  }
}

void CheckDigest(ShardTask& task) {
  const auto file = remote::DataFiles().OpenForReading(task.path);
  ByteBuffer buffer(size_t{1} << 20);
  Sha256 digest;
  for (uint64_t offset = 0;;) {
    const size_t got = file->ReadAt(offset, buffer);
    if (got == 0) break;
    digest.Update(ByteView(buffer).first(got));
    offset += got;
  }
  if (digest.Finish() != *task.expected->sha256) {
    task.Add("the SHA-256 of the file differs from the manifest");
  }
}

}  // namespace

void CheckShard(ShardTask& task) {
  try {
    task.bytes = remote::DataFiles().OpenForReading(task.path)->Size();
    ReadRecords(task);
    if (!task.expected) return;
    if (task.bytes != task.expected->bytes) {
      task.Add(format("is {} bytes long, the manifest says {}", task.bytes, task.expected->bytes));
    }
    if (task.records != task.expected->records) {
      task.Add(format("holds {} whole records, the manifest says {}", task.records,
                      task.expected->records));
    }
    if (task.expected->sha256) CheckDigest(task);
  } catch (const Error& error) {
    task.Add(error.reason(), error.place().offset, error.place().ordinal);
  }
}

}  // namespace recpack::pack
