#include "src/pack/check/verify_shard.h"

#include <memory>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/example/view.h"
#include "recpack/image/decode.h"
#include "recpack/record/reader.h"
#include "src/base/format.h"
#include "src/pack/check/digested_file.h"
#include "src/pack/check/picture_features.h"
#include "src/pack/item/file_fields.h"
#include "src/remote/store/data_files.h"

namespace recpack::pack {
namespace {

// Sounds are parsed where they begin as WAV: any samples are right.
void DecodeFiles(const ExampleView& view, const PictureFeatures& pictures) {
  for (const auto& feature : view) {
    if (feature.kind() != FeatureKind::kBytes) continue;
    const bool must_be = pictures.MustBePicture(view, feature.name());
    for (const ByteView value : feature.bytes_values()) {
      try {
        if (must_be || BeginsAsPicture(value)) {
          DecodeImage(value, {});
        } else if (DetectSoundFormat(value) == "WAV") {
          ParseSupportedWav(value);
        }
      } catch (const Error& error) {
        throw Error(error.kind(), format("feature '{}': {}", feature.name(), error.reason()));
      }
    }
  }
}

void CheckRecord(const Record& record, ExampleView& view, ShardTask& task) {
  try {
    view.Parse(record.payload);
    if (task.pictures != nullptr) DecodeFiles(view, *task.pictures);
  } catch (const Error& error) {
    task.Add(error.reason(), record.offset, record.ordinal);
  }
}

void ReadRecords(const ReadableFile& file, FileDigest* digest, ShardTask& task) {
  RecordReader reader(std::make_unique<DigestedFile>(file, digest),
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

}  // namespace

void CheckShard(ShardTask& task) {
  try {
    const auto file = remote::DataFiles().OpenForReading(task.path);
    task.bytes = file->Size();
    FileDigest digest;
    const bool has_digest = task.expected && task.expected->sha256;
    ReadRecords(*file, has_digest ? &digest : nullptr, task);
    if (!task.expected) return;
    if (task.bytes != task.expected->bytes) {
      task.Add(format("is {} bytes long, the manifest says {}", task.bytes, task.expected->bytes));
    }
    if (task.records != task.expected->records) {
      task.Add(format("holds {} whole records, the manifest says {}", task.records,
                      task.expected->records));
    }
    if (has_digest && digest.Finish(*file) != *task.expected->sha256) {
      task.Add("the SHA-256 of the file differs from the manifest");
    }
  } catch (const Error& error) {
    task.Add(error.reason(), error.place().offset, error.place().ordinal);
  }
}

}  // namespace recpack::pack
