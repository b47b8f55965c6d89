#include "src/pack/check/picture_features.h"

#include <algorithm>
#include <iterator>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "recpack/record/reader.h"
#include "src/pack/item/feature_names.h"
#include "src/pack/item/image_fields.h"
#include "src/pack/item/usual_names.h"
#include "src/remote/store/data_files.h"

namespace recpack::pack {
namespace {

constexpr uint64_t kRecordsToLearn = 100;
constexpr std::string_view kImage = "image";

bool IsPictureName(std::string_view name) {
  return std::ranges::find(kPictureNames, name) != std::end(kPictureNames);
}

// Tells whether the name is, or ends in, the name of a format: not `image`, which arrays have, too.
bool NamesFormat(std::string_view name) {
  const std::string_view end = name.substr(name.rfind('.') + 1);  // npos + 1 is 0
  return IsPictureName(end) && end != kImage && end != kImageEncoded;
}

bool IsText(ByteView value) {
  const std::string_view text = AsText(value);
  const bool controls = std::ranges::any_of(text, [](unsigned char c) {
    return (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
  });
  return !controls && IsUtf8(text);
}

bool SaysPicture(const ExampleView& record) {
  const FeatureView* format = record.Find(kImageFormat);
  if (format == nullptr || format->kind() != FeatureKind::kBytes || format->size() != 1)
    return true;
  return IsImageFormat(AsText(format->bytes_values()[0]));
}

void LearnShard(const std::string& path, uint64_t& left, PictureFeatures& pictures) {
  try {
    RecordReader reader(remote::DataFiles().OpenForReading(path),
                        {.on_damage = ReaderOptions::OnDamage::kResynchronise});
    ExampleView view;
    for (Record record; left > 0 && reader.Next(record);) {
      try {
        view.Parse(record.payload);
      } catch (const Error&) {
        continue;
      }
      pictures.Learn(view);
      --left;
    }
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the check of the shard reports it
  }
}

}  // namespace

bool BeginsAsPicture(ByteView value) noexcept {
  const std::string_view text = AsText(value.first(std::min<size_t>(value.size(), 12)));
  return text.starts_with("\xff\xd8\xff") || text.starts_with("\x89PNG\r\n\x1a\n") ||
         text.starts_with("GIF87a") || text.starts_with("GIF89a") ||
         (text.starts_with("RIFF") && text.ends_with("WEBP"));
}

void PictureFeatures::Learn(const ExampleView& record) {
  for (const FeatureView& feature : record) {
    if (feature.kind() != FeatureKind::kBytes) continue;
    auto found = seen_.find(feature.name());
    if (found == seen_.end()) found = seen_.emplace(feature.name(), Seen()).first;
    Seen& seen = found->second;
    for (const ByteView value : feature.bytes_values()) {
      const bool picture = BeginsAsPicture(value);
      ++seen.values;
      seen.pictures += picture;
      seen.arrays += !picture && !IsText(value);
    }
  }
}

bool PictureFeatures::MustBePicture(const ExampleView& record, std::string_view feature) const {
  if (feature == kImageEncoded) return SaysPicture(record);
  if (NamesFormat(feature)) return true;
  const auto found = seen_.find(feature);
  const Seen seen = found == seen_.end() ? Seen() : found->second;
  if (feature == kImage) return 2 * seen.arrays <= seen.values && SaysPicture(record);
  return 2 * seen.pictures > seen.values;
}

PictureFeatures LearnPictures(const NameList& shards) {
  PictureFeatures pictures;
  uint64_t left = kRecordsToLearn;
  for (size_t i = 0; i < shards.size() && left > 0; ++i) LearnShard(shards[i], left, pictures);
  return pictures;
}

}  // namespace recpack::pack
