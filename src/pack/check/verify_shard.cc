#include "src/pack/check/verify_shard.h"

#include <algorithm>
#include <string_view>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/hash.h"
#include "recpack/example/view.h"
#include "recpack/image/decode.h"
#include "recpack/image/header.h"
#include "recpack/record/reader.h"
#include "src/base/format.h"
#include "src/pack/item/feature_names.h"
#include "src/pack/item/image_fields.h"
#include "src/remote/store/data_files.h"

namespace recpack::pack {
namespace {

// By signatures that other data does not begin with; BMP's is too short.
bool IsImage(ByteView value) {
  const std::string_view text = AsText(value.first(std::min<size_t>(value.size(), 12)));
  return text.starts_with("\xff\xd8\xff") || text.starts_with("\x89PNG\r\n\x1a\n") ||
         (text.starts_with("RIFF") && text.ends_with("WEBP"));
}

// Tells whether image/encoded should hold an image, judging by image/format if present.
bool SaysImage(const ExampleView& view) {
  const FeatureView* format = view.Find(kImageFormat);
  if (format == nullptr || format->kind() != FeatureKind::kBytes || format->size() != 1)
    return true;
  return IsImageFormat(AsText(format->bytes_values()[0]));
}

void DecodeImages(const ExampleView& view) {
  for (const auto& feature : view) {
    if (feature.kind() != FeatureKind::kBytes) continue;
    const bool must_be = feature.name() == kImageEncoded && SaysImage(view);
    for (const ByteView value : feature.bytes_values()) {
      const ImageFormat format = ReadImageHeader(value).format;
      const bool refused = format == ImageFormat::kUnknown || IsDecoded(format);
      if (IsImage(value) || (must_be && refused)) DecodeImage(value, {});
    }
  }
}

void CheckRecord(const Record& record, const VerifyOptions& options, ExampleView& view,
                 ShardTask& task) {
  try {
    view.Parse(record.payload);
    if (options.decode) DecodeImages(view);
  } catch (const Error& error) {
    task.Add(error.reason(), record.offset, record.ordinal);
  }
}

void ReadRecords(const VerifyOptions& options, ShardTask& task) {
  RecordReader reader(remote::DataFiles().OpenForReading(task.path),
                      {.on_damage = ReaderOptions::OnDamage::kResynchronise});
  ExampleView view;
  IndexCheck index(task.indexed, task.path, task.bytes);
  for (Record record; reader.Next(record);) {
    ++task.records;
    if (!reader.damages().empty()) index.Stop();
    index.See(record);
    CheckRecord(record, options, view, task);
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

void CheckShard(const VerifyOptions& options, ShardTask& task) {
  try {
    task.bytes = remote::DataFiles().OpenForReading(task.path)->Size();
    ReadRecords(options, task);
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
