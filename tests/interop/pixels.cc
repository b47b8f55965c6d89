// Pixels as this library makes them, for other programs to compare theirs with.
//
//   pixels decode [stored|seen] < FILES     FILES: a path a line
//   pixels resize < BOXES                   a line: FILTER WIDTH HEIGHT X Y WIDTH HEIGHT PATH
//   pixels recipe NAME u8|f32 DATA          the field `image` of each sample, in the data's order
//
// Writes, for each, a line `WIDTH HEIGHT CHANNELS X Y WIDTH HEIGHT FLIP` (the box that was taken
// and whether it was flipped; zeros where there is none) and the pixels; NHWC. A file that is
// refused: a line `refused: REASON`.
#include <cstdio>
#include <iostream>
#include <sstream>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/image/decode.h"
#include "recpack/image/header.h"
#include "recpack/image/jpeg_crop.h"
#include "recpack/image/resize.h"
#include "recpack/loader/loader.h"
#include "recpack/loader/recipe.h"
#include "src/loader/data/streams.h"
#include "src/loader/image/crop_choice.h"

namespace recpack {
namespace {

constexpr uint64_t kSeed = 7;

struct Taken {
  Region box;
  bool flipped = false;
};

void Put(int width, int height, int channels, const Taken& taken, ByteView pixels) {
  const Region& box = taken.box;
  std::printf("%d %d %d %d %d %d %d %d\n", width, height, channels, box.x, box.y, box.width,
              box.height, taken.flipped ? 1 : 0);
  std::fwrite(pixels.data(), 1, pixels.size(), stdout);
}

void Put(const Image& image) { Put(image.width, image.height, image.channels, {}, image.pixels); }

void Decode(const std::string& how) {
  const DecodeOptions options{
      .layout = how == "stored" ? PixelLayout::kAsStored : PixelLayout::kRgb,
      .apply_orientation = how == "seen"};
  ImageDecoder decoder;
  Image image;
  for (std::string path; std::getline(std::cin, path);) {
    try {
      decoder.Decode(ReadWholeFile(PosixFiles(), path), options, image);
      Put(image);
    } catch (const Error& error) {
      std::printf("refused: %s\n", error.what());
    }
  }
}

ResizeFilter FilterOf(const std::string& name) {
  if (name == "bilinear") return ResizeFilter::kBilinear;
  return name == "box" ? ResizeFilter::kBox : ResizeFilter::kBilinearTwoTaps;
}

void ResizeBoxes() {
  JpegRegionDecoder decoder;
  Resizer resizer;
  Image part, resized;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string filter, path;
    int width = 0, height = 0;
    Region box;
    words >> filter >> width >> height >> box.x >> box.y >> box.width >> box.height >> std::ws;
    std::getline(words, path);
    decoder.Decode(ReadWholeFile(PosixFiles(), path), box, {}, part);
    resized.Reshape(width, height, part.channels);
    resizer.Resize(ToView(part), {0, 0, box.width, box.height}, FilterOf(filter), ToSpan(resized));
    Put(width, height, resized.channels, {.box = box}, resized.pixels);
  }
}

// What the field draws for the sample at `position` of the first epoch: the order of these numbers
// is frozen.
Taken Drawn(const ImageField& field, ByteView file, uint64_t position) {
  if (field.crop != CropKind::kRandomResized) return {};
  const ImageHeader header = ReadImageHeader(file);
  KeyedRandom random(EpochSeed(kSeed, 0), ToStream(RandomStream::kSample, field.view), position);
  const bool flipped = random.NextUnit() < field.flip;
  const RandomCrop crop(field.area[0], field.area[1], field.aspect[0], field.aspect[1]);
  return {crop({header.width, header.height}, random), flipped};
}

void RunRecipe(const std::string& name, const std::string& type, const std::string& data) {
  auto image = std::get<ImageField>(Recipe(name)[0]);
  image.type = type == "u8" ? ElementType::kU8 : ElementType::kF32;
  image.layout = ImageLayout::kNhwc;
  Loader loader(
      Dataset::Open(data),
      {.fields = {image, BytesField{.name = "image/encoded", .shape = {1 << 22}, .ragged = true}},
       .batch_size = 1,
       .order = {.kind = OrderKind::kSequential},
       .seed = kSeed});
  for (uint64_t position = 0; const auto batch = loader.Next(); ++position) {
    const auto size = static_cast<size_t>(*batch->Data<int32_t>("image/encoded_length"));
    const Taken taken = Drawn(image, {batch->Data<uint8_t>("image/encoded"), size}, position);
    const auto* pixels = static_cast<const uint8_t*>(batch->Raw("image"));
    Put(image.width, image.height, 3, taken, {pixels, batch->arrays()[0].sample_bytes});
  }
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string what = words.empty() ? "" : words[0];
  try {
    if (what == "decode" && words.size() <= 2) {
      recpack::Decode(words.size() == 2 ? words[1] : "");
    } else if (what == "resize" && words.size() == 1) {
      recpack::ResizeBoxes();
    } else if (what == "recipe" && words.size() == 4) {
      recpack::RunRecipe(words[1], words[2], words[3]);
    } else {
      std::fputs("usage: as the source says\n", stderr);
      return 2;
    }
    return 0;
  } catch (const recpack::Error& error) {
    std::fprintf(stderr, "pixels: %s\n", error.what());
    return 2;
  }
}
