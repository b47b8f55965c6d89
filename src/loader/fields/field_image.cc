// Field writer for images: crops, decodes, resizes, augments and finishes them into the batch.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "recpack/example/shape.h"
#include "recpack/loader/feature.h"
#include "src/base/format.h"
#include "src/loader/data/streams.h"
#include "src/loader/fields/field_writer.h"
#include "src/loader/fields/image_field_check.h"
#include "src/loader/fields/picture.h"
#include "src/loader/fields/wide_pixels.h"
#include "src/loader/image/augment_policy.h"
#include "src/loader/image/colour_jitter.h"
#include "src/loader/image/erase.h"
#include "src/pack/item/pixels.h"

namespace recpack {
namespace {

constexpr size_t kLeastCopied = 4 << 10;
constexpr size_t kMostCopied = 64 << 10;
constexpr size_t kLine = 64;

// A buffer aligned to cache lines. malloc() memory starts within a line, which makes copies on some
// processors (`rep movsb` of Zen 4) half as slow again.
uint8_t* AlignedIn(ByteBuffer& buffer, size_t bytes) {
  buffer.resize(bytes + kLine - 1);
  void* begin = buffer.data();
  size_t room = buffer.size();
  return static_cast<uint8_t*>(std::align(kLine, bytes, begin, room));
}

// Sizes of the Finisher's input: the raw image itself, or the resized one.
FinishOptions MakeFinishOptions(const ImageField& field) {
  const bool raw = IsRaw(field) && field.crop <= CropKind::kPadAndCrop && !IsAugmented(field);
  FinishOptions options;
  options.in_layout = raw ? field.raw_layout : ImageLayout::kNhwc;
  options.channels = IsRaw(field) ? field.raw_shape[0] : field.decoding.channels;
  if (IsWide(field)) options.channels = 2;  // pairs of bytes, which only change their places
  options.in_height = raw ? field.raw_shape[1] : field.height;
  options.in_width = raw ? field.raw_shape[2] : field.width;
  options.out_height = field.height;
  options.out_width = field.width;
  options.type = IsWide(field) ? ElementType::kU8 : field.type;
  options.out_layout = field.layout;
  return MeanStd(options, field.mean.data(), field.std.data());
}

std::string Number(int64_t number) { return std::to_string(number); }

// Options that make the u8 image for augmentation: crop and flip only.
FinishOptions MakeCutOptions(const ImageField& field) {
  ImageField plain = field;
  plain.augment = {};
  plain.type = ElementType::kU8;
  plain.layout = ImageLayout::kNhwc;
  return MakeFinishOptions(plain);
}

// The u8 values that normalisation maps to 0 or closest to it.
std::array<uint8_t, 3> MeanValues(const ImageField& field) {
  std::array<uint8_t, 3> values;
  for (size_t c = 0; c < values.size(); ++c) {
    values[c] = static_cast<uint8_t>(std::clamp(field.mean[c] * 255 + 0.5, 0.0, 255.0));
  }
  return values;
}

class ImageWriter final : public FieldWriter {
 public:
  ImageWriter(const ImageField& field, bool shared)
      : field_((CheckImageField(field), field)),
        finish_(MakeFinishOptions(field)),
        finisher_(finish_),
        cut_(MakeCutOptions(field)),
        eraser_(field.augment.erasing, finish_, MeanValues(field)),
        picture_(field, shared) {
    if (field.crop == CropKind::kNone && IsRaw(field) &&
        (field.raw_shape[1] != field.height || field.raw_shape[2] != field.width)) {
      Refuse(format("image field '{}' is {} x {} and its raw pictures are {} x {}", field.name,
                    field.width, field.height, field.raw_shape[2], field.raw_shape[1]),
             "choose how they are cropped");
    }
  }

  std::vector<ArraySpec> Arrays() const override {
    if (field_.finish_on_device) {
      return {{.name = field_.name,
               .type = ElementType::kU8,
               .shape = Shape(finish_.in_layout, finish_.in_height, finish_.in_width),
               .sample_bytes = source_bytes_},
              {.name = field_.name + "_geometry",
               .type = ElementType::kI32,
               .shape = {3},
               .sample_bytes = sizeof(FinishGeometry)}};
    }
    const size_t pixels = static_cast<size_t>(field_.height) * static_cast<size_t>(field_.width);
    return {{.name = field_.name,
             .type = field_.type,
             .shape = Shape(field_.layout, field_.height, field_.width),
             .sample_bytes =
                 IsWide(field_) ? pixels * ElementBytes(field_.type) : finisher_.out_bytes()}};
  }

  void Write(const SampleRecord& sample, SampleTools& tools,
             std::span<uint8_t* const> out) const override {
    const FeatureView& feature = Find(sample.example);
    const ByteView bytes = feature.bytes_values()[0];
    KeyedRandom random = Random(RandomStream::kSample, sample);
    // Always drawn first, so that it does not depend on how many numbers a crop draws.
    FinishGeometry geometry{.flip = random.NextUnit() < field_.flip};
    const uint8_t* pixels = bytes.data();
    bool made = false;  // else it is cropped when it is finished
    if (field_.crop == CropKind::kPadAndCrop) {
      geometry.x = Offset(field_.raw_shape[2] + 2 * field_.pad - field_.width, random) - field_.pad;
      geometry.y =
          Offset(field_.raw_shape[1] + 2 * field_.pad - field_.height, random) - field_.pad;
    } else if (field_.crop != CropKind::kNone || !IsRaw(field_)) {
      pixels = picture_(bytes, random, tools, PixelsOf(sample.example, feature)).pixels;
      made = true;
    }
    if (!made) {
      tools.crop = {.left = static_cast<double>(geometry.x),
                    .top = static_cast<double>(geometry.y),
                    .width = static_cast<double>(field_.width),
                    .height = static_cast<double>(field_.height),
                    .source = {field_.raw_shape[2], field_.raw_shape[1]}};
    }
    tools.crop.flip = geometry.flip;
    if (IsAugmented(field_)) {
      if (!made) tools.Enter(Stage::kAugment);
      made = true;
      pixels = Augmented(pixels, geometry, sample, tools);
      geometry = {};
    }
    if (made) tools.ResumeWriting();
    if (IsWide(field_)) return FinishWide(pixels, geometry, tools, out[0]);
    if (field_.finish_on_device) return Leave(pixels, geometry, out);
    Finish(pixels, geometry, tools, out[0]);
    if (eraser_.wanted()) {
      KeyedRandom erasing = Random(RandomStream::kErase, sample);
      eraser_.Erase(eraser_.Choose(erasing), out[0]);
    }
  }

 private:
  KeyedRandom Random(RandomStream family, const SampleRecord& sample) const {
    return {sample.epoch_seed, ToStream(family, field_.view), sample.position};
  }

  const uint8_t* Augmented(const uint8_t* pixels, const FinishGeometry& geometry,
                           const SampleRecord& sample, SampleTools& tools) const {
    Image& picture = tools.augmented;
    picture.Reshape(field_.width, field_.height, finish_.channels);
    cut_(pixels, geometry, picture.pixels.data());
    if (field_.augment.policy.kind != AugmentPolicyKind::kNone) {
      KeyedRandom choices = Random(RandomStream::kPolicy, sample);
      ApplyPolicy(field_.augment.policy, choices, picture, tools.scratch);
    }
    KeyedRandom colours = Random(RandomStream::kColour, sample);
    JitterColours(field_.augment.colour, colours, picture);
    return picture.pixels.data();
  }

  void FinishWide(const uint8_t* pixels, const FinishGeometry& geometry, SampleTools& tools,
                  uint8_t* out) const {
    Image& pairs = tools.augmented;
    pairs.Reshape(field_.width, field_.height, 2);
    cut_(pixels, geometry, pairs.pixels.data());
    JoinPairs(pairs.pixels, field_, out);
  }

  // Left for a device to finish.
  void Leave(const uint8_t* pixels, const FinishGeometry& geometry,
             std::span<uint8_t* const> out) const {
    const std::array<int32_t, 3> place = {geometry.x, geometry.y, geometry.flip ? 1 : 0};
    static_assert(sizeof place == sizeof geometry);
    std::memcpy(out[0], pixels, source_bytes_);
    std::memcpy(out[1], place.data(), sizeof place);
  }

  // Small images of wide types are finished in the cache and copied to the slab: a copy of whole
  // lines need not fetch them first, unlike finishing in place (docs/decisions/0007). Large ones do
  // not fit into the cache beside their source.
  void Finish(const uint8_t* pixels, const FinishGeometry& geometry, SampleTools& tools,
              uint8_t* out) const {
    const size_t bytes = finisher_.out_bytes();
    if (bytes < kLeastCopied || bytes > kMostCopied) return finisher_(pixels, geometry, out);
    uint8_t* const finished = AlignedIn(tools.finished, bytes);
    finisher_(pixels, geometry, finished);
    std::memcpy(out, finished, bytes);
  }

  std::vector<uint32_t> Shape(ImageLayout layout, int height, int width) const {
    const auto c = static_cast<uint32_t>(IsWide(field_) ? 1 : finish_.channels);
    const auto h = static_cast<uint32_t>(height), w = static_cast<uint32_t>(width);
    return layout == ImageLayout::kNhwc ? std::vector{h, w, c} : std::vector{c, h, w};
  }

  static int Offset(int places, KeyedRandom& random) {
    return places <= 0 ? places / 2
                       : static_cast<int>(random.NextBelow(static_cast<uint32_t>(places) + 1));
  }

  // Checks that it holds one value of bytes, and of the raw shape's size.
  const FeatureView& Find(const ExampleView& example) const {
    const FeatureView* feature = field_.feature.empty() ? FindPicture(example) : nullptr;
    if (feature == nullptr) {
      feature = &RequireFeature(example, field_.feature.empty() ? "image/encoded" : field_.feature);
    }
    if (feature->kind() != FeatureKind::kBytes || feature->size() != 1) {
      Refuse(format("feature '{}' holds {} values of kind {}, a picture is one of bytes",
                    feature->name(), feature->size(), FeatureKindName(feature->kind())),
             "name the feature of the field");
    }
    const ByteView bytes = feature->bytes_values()[0];
    const auto& shape = field_.raw_shape;
    if (IsRaw(field_) && bytes.size() != static_cast<size_t>(shape[0]) * shape[1] * shape[2]) {
      Refuse(
          format("feature '{}' has {} bytes, raw pictures of {} x {} x {} have {}", feature->name(),
                 bytes.size(), shape[0], shape[1], shape[2], shape[0] * shape[1] * shape[2]),
          "give the field's raw shape, or none for encoded pictures");
    }
    if (IsRaw(field_)) CheckShape(FindShape(example, *feature), feature->name());
    return *feature;
  }

  // The same bytes may be planar or interleaved: a shape that the record gives has to agree.
  void CheckShape(std::vector<int64_t> given, std::string_view name) const {
    if (given.empty()) return;
    const auto [channels, height, width] = field_.raw_shape;
    const bool planar = field_.raw_layout == ImageLayout::kNchw;
    if (given.size() == 2) given.insert(planar ? given.begin() : given.end(), 1);
    const auto expected = planar ? std::vector<int64_t>{channels, height, width}
                                 : std::vector<int64_t>{height, width, channels};
    if (given == expected) return;
    Refuse(format("feature '{}' has the shape ({}), field '{}' reads it as ({})", name,
                  JoinNames(given, Number), field_.name, JoinNames(expected, Number)),
           "choose the field's raw shape and raw layout: nhwc for (height, width, channels)");
  }

  // Finds the pixels of an image that the record holds as an array with its shape.
  std::optional<PixelView> PixelsOf(const ExampleView& example, const FeatureView& feature) const {
    if (IsRaw(field_)) return {};
    auto pixels = pack::FindPixels(example, feature);
    if (pixels && IsWide(field_)) {
      Refuse(format("feature '{}' holds an image as an array of bytes, field '{}' takes 16 bits",
                    feature.name(), field_.name),
             "leave bits=16 out");
    }
    return pixels;
  }

  ImageField field_;
  FinishOptions finish_;
  Finisher finisher_;
  const size_t source_bytes_ =
      static_cast<size_t>(finish_.in_height) * finish_.in_width * finish_.channels;
  Finisher cut_;
  Eraser eraser_;
  PictureMaker picture_;
};

}  // namespace

FinishOptions ToFinishOptions(const ImageField& field) {
  CheckImageField(field);
  return MakeFinishOptions(field);
}

std::unique_ptr<FieldWriter> MakeImageWriter(const ImageField& field, bool shared) {
  return std::make_unique<ImageWriter>(field, shared);
}

}  // namespace recpack
