// Crops of real JPEGs: ours on tiled files against libjpeg-turbo's own crop and skip on the
// originals, one thread, in one run.
//
//   crop_bench FOLDER [ROUNDS]
//
// Prints a JSON line a round and one of medians. Boxes are those of random-resized-crop (area 8 to
// 100 %, aspect 3/4 to 4/3), the same for all; only decoding to RGB is timed, no resizing. Every
// crop of ours is checked against the full decode first.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/image/libjpeg_crop.h"
#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/random.h"
#include "recpack/image/header.h"
#include "recpack/image/jpeg_crop.h"
#include "recpack/image/jpeg_tile.h"

namespace recpack {
namespace {

struct Item {
  ByteBuffer original, tiled;
  Region box;
};

// torchvision's RandomResizedCrop.get_params, but for the fallback after ten tries: the whole
// image.
Region RandomBox(int width, int height, KeyedRandom& random) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = width * height * (0.08 + 0.92 * random.NextUnit());
    const double aspect = std::exp(std::log(4.0 / 3) * (2 * random.NextUnit() - 1));
    const int w = static_cast<int>(std::lround(std::sqrt(area * aspect)));
    const int h = static_cast<int>(std::lround(std::sqrt(area / aspect)));
    if (w < 1 || h < 1 || w > width || h > height) continue;
    return {static_cast<int>(random.NextBelow(static_cast<uint32_t>(width - w + 1))),
            static_cast<int>(random.NextBelow(static_cast<uint32_t>(height - h + 1))), w, h};
  }
  return {0, 0, width, height};
}

std::vector<Item> LoadItems(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Item> items;
  for (const std::string& path : paths) {
    Item item{.original = ReadWholeFile(PosixFiles(), path), .tiled = {}, .box = {}};
    if (ReadImageHeader(item.original).format != ImageFormat::kJpeg) continue;
    try {
      item.tiled = TileJpeg(item.original);
    } catch (const Error& error) {
      std::fprintf(stderr, "left out: %s: %s\n", path.c_str(), error.what());
      continue;
    }
    const ImageHeader header = ReadImageHeader(item.original);
    KeyedRandom random(0, 0, items.size());
    item.box = RandomBox(header.width, header.height, random);
    items.push_back(std::move(item));
  }
  return items;
}

size_t CountUnequal(const std::vector<Item>& items) {
  size_t unequal = 0;
  for (const Item& item : items) {
    const Image whole = DecodeImage(item.original);
    const Image crop = DecodeJpegRegion(item.tiled, item.box);
    bool equal = true;
    for (int y = 0; y < crop.height; ++y) {
      equal &= std::equal(crop.row(y), crop.row(y) + crop.row_bytes(),
                          whole.row(item.box.y + y) + item.box.x * 3);
    }
    unequal += equal ? 0 : 1;
  }
  return unequal;
}

template <typename Work>
double PerSecond(const std::vector<Item>& items, Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  for (const Item& item : items) work(item);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return static_cast<double>(items.size()) / taken.count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int Run(const std::string& folder, int rounds) {
  const std::vector<Item> items = LoadItems(folder);
  if (items.empty()) throw Error(ErrorKind::kNotFound, "no JPEGs", {.path = folder});
  size_t before = 0, after = 0;
  for (const Item& item : items) {
    before += item.original.size();
    after += item.tiled.size();
  }
  JpegRegionDecoder decoder;
  Image image;
  std::vector<uint8_t> rows;
  std::vector<double> tiled, untiled, libjpeg, whole, ratio;
  for (int round = 0; round < rounds; ++round) {
    tiled.push_back(PerSecond(
        items, [&](const Item& item) { decoder.Decode(item.tiled, item.box, {}, image); }));
    libjpeg.push_back(PerSecond(
        items, [&](const Item& item) { bench::CropByLibjpeg(item.original, item.box, rows); }));
    untiled.push_back(PerSecond(
        items, [&](const Item& item) { decoder.Decode(item.original, item.box, {}, image); }));
    ImageDecoder full;
    whole.push_back(
        PerSecond(items, [&](const Item& item) { full.Decode(item.original, {}, image); }));
    ratio.push_back(tiled.back() / libjpeg.back());
    std::printf(
        "{\"round\": %d, \"tiled_per_s\": %.0f, \"libjpeg_crop_per_s\": %.0f, "
        "\"original_per_s\": %.0f, \"whole_per_s\": %.0f, \"ratio\": %.3f}\n",
        round, tiled.back(), libjpeg.back(), untiled.back(), whole.back(), ratio.back());
  }
  std::printf(
      "{\"bench\": \"image/crop\", \"files\": %zu, \"unequal_crops\": %zu, "
      "\"size_ratio\": %.4f, \"rounds\": %d, \"tiled_per_s\": %.0f, "
      "\"libjpeg_crop_per_s\": %.0f, \"original_per_s\": %.0f, \"whole_per_s\": %.0f, "
      "\"ratio\": %.3f}\n",
      items.size(), CountUnequal(items), static_cast<double>(after) / static_cast<double>(before),
      rounds, Median(tiled), Median(libjpeg), Median(untiled), Median(whole), Median(ratio));
  return 0;
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: crop_bench FOLDER [ROUNDS]\n");
    return 2;
  }
  try {
    return recpack::Run(argv[1], argc > 2 ? std::max(1, std::atoi(argv[2])) : 7);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "crop_bench: %s\n", error.what());
    return 2;
  }
}
