#include "src/loader/fields/picture.h"

#include <algorithm>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/image/channels.h"
#include "recpack/image/decode.h"
#include "src/base/format.h"

namespace recpack {
namespace {

constexpr Region All(ImageSize size) { return {0, 0, size.width, size.height}; }
constexpr ImageSize ToSize(const Region& region) { return {region.width, region.height}; }

DecodeOptions MakeDecodeOptions(const ImageDecoding& decoding) {
  DecodeOptions options;
  options.apply_orientation = decoding.apply_orientation;
  options.allow_damage = decoding.allow_damage;
  options.fast_dct = decoding.fast_dct;
  options.fancy_upsampling = decoding.fancy_upsampling;
  if (decoding.channels == 1) options.layout = PixelLayout::kOne;
  if (decoding.bits == 16) options.layout = PixelLayout::kOne16;
  return options;
}

// Planar to interleaved.
void Interleave(ByteView bytes, const std::array<int, 3>& shape, Image& to) {
  const auto [channels, height, width] = shape;
  to.Reshape(width, height, channels);
  const size_t plane = static_cast<size_t>(width) * height;
  for (size_t i = 0; i < plane; ++i) {
    for (int c = 0; c < channels; ++c) to.pixels[i * channels + c] = bytes[c * plane + i];
  }
}

}  // namespace

bool SharesPicture(const ImageField& field, const std::vector<Field>& fields) {
  if (!MayKeep(field)) return false;
  return std::count_if(fields.begin(), fields.end(), [&](const Field& other) {
           const auto* image = std::get_if<ImageField>(&other);
           return image != nullptr && !IsRaw(*image) && image->feature == field.feature &&
                  image->decoding == field.decoding;
         }) > 1;
}

PictureMaker::PictureMaker(const ImageField& field, bool shared)
    : field_(field),
      shared_(shared),
      random_crop_(field.area[0], field.area[1], field.aspect[0], field.aspect[1]) {}

PixelView PictureMaker::operator()(ByteView bytes, KeyedRandom& random, SampleTools& tools,
                                   const std::optional<PixelView>& pixels) const {
  Choice choice;
  Region shown;
  PixelView decoded;
  if (IsRaw(field_)) {
    shown = {0, 0, field_.raw_shape[2], field_.raw_shape[1]};
    choice = Choose(ToSize(shown), random);
    tools.crop = ToCrop(choice, ToSize(shown));
    decoded = Raw(bytes, tools);
  } else if (pixels) {
    const ImageSize size{pixels->width, pixels->height};
    shown = All(size);
    choice = Choose(size, random);
    tools.crop = ToCrop(choice, size);
    decoded = Converted(*pixels, tools);
  } else {
    const ImageHeader header = ReadImageHeader(bytes);
    RefuseNotDecoded(bytes, header);
    const int orientation = field_.decoding.apply_orientation ? header.orientation : 1;
    const ImageSize seen = SeenSize({header.width, header.height}, orientation);
    choice = Choose(seen, random);
    tools.crop = ToCrop(choice, seen);
    decoded = Decoded(bytes, header, choice, shown, tools);
  }
  tools.Enter(Stage::kAugment);
  return Resized(decoded, shown, choice, tools);
}

PictureMaker::Choice PictureMaker::Choose(ImageSize seen, KeyedRandom& random) const {
  const ImageSize result{field_.width, field_.height};
  Choice choice{.part = All(seen), .window = {seen, result, All(result)}, .needed = {}};
  switch (field_.crop) {
    case CropKind::kRandomResized:
      choice.part = random_crop_(seen, random);
      choice.window.whole = ToSize(choice.part);
      break;
    case CropKind::kResizeCentre:
      choice.window.resized = ScaleShorterSide(seen, field_.resize);
      choice.window.window = CentreCrop(choice.window.resized, result.width, result.height);
      break;
    case CropKind::kResize:
      break;
    default:
      if (seen == result) break;
      throw Error(ErrorKind::kInvalidArgument,
                  format("a picture is {} x {}, the field {} x {}", seen.width, seen.height,
                         result.width, result.height),
                  {}, "choose how pictures are cropped or resized");
  }
  choice.needed = SourceRegion(choice.window, field_.filter);
  choice.needed.x += choice.part.x;
  choice.needed.y += choice.part.y;
  return choice;
}

// The part of the source that the result shows: a window of a resized part of it.
PictureCrop PictureMaker::ToCrop(const Choice& choice, ImageSize seen) {
  const auto& [whole, resized, window, grid] = choice.window;
  const double across = static_cast<double>(whole.width) / resized.width;
  const double down = static_cast<double>(whole.height) / resized.height;
  return {.left = choice.part.x + window.x * across,
          .top = choice.part.y + window.y * down,
          .width = window.width * across,
          .height = window.height * down,
          .source = seen};
}

// The smallest pictures that need not be enlarged.
int PictureMaker::ChooseScale(const Choice& choice) const {
  if (!field_.decoding.scaled) return 1;
  const auto& [whole, resized, window, grid] = choice.window;
  int denominator = 8;
  while (denominator > 1 && (whole.width < resized.width * denominator ||
                             whole.height < resized.height * denominator)) {
    denominator /= 2;
  }
  return denominator;
}

// As near as whole pixels of the picture decoded at a fraction of its size come to it.
void PictureMaker::Scale(Choice& choice, ImageSize whole, int denominator) const {
  const auto scaled = [&](int place, int length, int limit, int& out_place, int& out_length) {
    const int pixels = ScaledLength(limit, denominator);
    out_place = std::min(place / denominator, pixels - 1);
    out_length = std::clamp((length + denominator / 2) / denominator, 1, pixels - out_place);
  };
  const Region part = choice.part;
  scaled(part.x, part.width, whole.width, choice.part.x, choice.part.width);
  scaled(part.y, part.height, whole.height, choice.part.y, choice.part.height);
  choice.window.whole = ToSize(choice.part);
  choice.needed = SourceRegion(choice.window, field_.filter);
  choice.needed.x += choice.part.x;
  choice.needed.y += choice.part.y;
}

// The pixels that are `shown`: all of them where other fields share them, where a cache has them or
// shall have them, and where no less can be decoded.
PixelView PictureMaker::Decoded(ByteView bytes, const ImageHeader& header, Choice& choice,
                                Region& shown, SampleTools& tools) const {
  const ImageSize stored{header.width, header.height};
  const int orientation = field_.decoding.apply_orientation ? header.orientation : 1;
  const ImageSize seen = SeenSize(stored, orientation);
  shown = All(seen);
  if (shared_ && tools.HasDecoded(bytes, field_)) return ToView(tools.decoded);
  if (const auto kept = tools.kept.Find(bytes, field_, seen)) return *kept;
  tools.Enter(Stage::kDecode, bytes.size());
  const bool is_jpeg = header.format == ImageFormat::kJpeg;
  const auto count_whole = [&] {
    if (is_jpeg) tools.CountPicture(stored, stored, bytes, 1);
  };
  if (DecodedToKeep(bytes, seen, tools)) {
    count_whole();
    return ToView(tools.decoded);
  }
  DecodeOptions options = MakeDecodeOptions(field_.decoding);
  const int denominator = is_jpeg ? ChooseScale(choice) : 1;
  if (is_jpeg && field_.decoding.resize_planes && denominator == 1 && orientation == 1 &&
      tools.plane_resizer.Resize(bytes, choice.part, choice.window, field_.filter, options,
                                 tools.resized)) {
    tools.CountPicture(stored, ToSize(choice.needed), bytes, tools.plane_resizer.coded_share());
    const ImageSize size = ToSize(choice.window.window);
    choice = {.part = All(size), .window = {size, size, All(size)}, .needed = All(size)};
    shown = All(size);
    return ToView(tools.resized);  // nothing is left to do
  }
  if (is_jpeg && !shared_ && field_.decoding.channels == 3 &&
      (denominator > 1 || choice.needed != All(seen))) {
    if (denominator > 1) Scale(choice, seen, denominator);
    shown = choice.needed;
    options.scale_denominator = denominator;
    options.apply_orientation = false;
    const ImageSize pixels{ScaledLength(stored.width, denominator),
                           ScaledLength(stored.height, denominator)};
    tools.region_decoder.Decode(bytes, StoredRegion(shown, pixels, orientation), options,
                                tools.cropped);
    tools.CountPicture(stored, ToSize(shown), bytes, tools.region_decoder.coded_share());
    if (orientation > 1) tools.cropped = ApplyOrientation(std::move(tools.cropped), orientation);
    return ToView(tools.cropped);
  }
  tools.decoded_from = nullptr;
  tools.decoder.Decode(bytes, options, tools.decoded);
  count_whole();
  tools.SetDecoded(bytes, field_);
  return ToView(tools.decoded);
}

// Tells whether the whole image was decoded and offered to the cache; false for a damaged one, of
// which a part may be intact.
bool PictureMaker::DecodedToKeep(ByteView bytes, ImageSize seen, SampleTools& tools) const {
  if (!tools.kept.Wanted(bytes, field_, seen)) return false;
  DecodeOptions options = MakeDecodeOptions(field_.decoding);
  options.allow_damage = false;
  tools.decoded_from = nullptr;
  try {
    tools.decoder.Decode(bytes, options, tools.decoded);
  } catch (const Error&) {
    return false;
  }
  tools.SetDecoded(bytes, field_);
  tools.kept.Keep(bytes, field_, tools.decoded);
  return true;
}

// Interleaved, once for all that share it.
PixelView PictureMaker::Raw(ByteView bytes, SampleTools& tools) const {
  if (field_.raw_layout == ImageLayout::kNhwc) {
    const auto [channels, height, width] = field_.raw_shape;
    return {bytes.data(), width, height, channels, static_cast<size_t>(width) * channels};
  }
  if (tools.HasDecoded(bytes, field_)) return ToView(tools.decoded);
  tools.Enter(Stage::kDecode, bytes.size());
  tools.decoded_from = nullptr;
  Interleave(bytes, field_.raw_shape, tools.decoded);
  tools.SetDecoded(bytes, field_);
  return ToView(tools.decoded);
}

PixelView PictureMaker::Converted(const PixelView& pixels, SampleTools& tools) const {
  const int channels = field_.decoding.channels;
  if (pixels.channels == channels) return pixels;
  tools.Enter(Stage::kDecode, pixels.stride * static_cast<size_t>(pixels.height));
  tools.decoded_from = nullptr;
  ConvertChannels(pixels, channels, tools.decoded);
  return ToView(tools.decoded);
}

PixelView PictureMaker::Resized(const PixelView& from, const Region& shown, const Choice& choice,
                                SampleTools& tools) const {
  const auto& [whole, resized, window, grid] = choice.window;
  if (whole == resized && ToSize(window) == ToSize(shown)) return from;
  tools.resized.Reshape(window.width, window.height, from.channels);
  const Region of_part{shown.x - choice.part.x, shown.y - choice.part.y, shown.width, shown.height};
  tools.resizer.Resize(from, of_part, choice.window, field_.filter, ToSpan(tools.resized));
  return ToView(tools.resized);
}

}  // namespace recpack
