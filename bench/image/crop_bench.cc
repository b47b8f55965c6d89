// Crops of real JPEGs, and whole ones: ours, of tiled files and of the originals, against
// libjpeg-turbo's own crop and skip and its full decode of the originals, one thread, in one run.
//
//   crop_bench FOLDER [ROUNDS]
//
// Prints a JSON line a round and one of medians. Boxes are those of random-resized-crop (area 8 to
// 100 %, aspect 3/4 to 4/3), the same for all; only decoding to RGB is timed, no resizing. All
// pixels of ours are checked against libjpeg-turbo's full decode.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/image/libjpeg_crop.h"
#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/median.h"
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

Region WholeOf(const Item& item) {
  const ImageHeader header = ReadImageHeader(item.original);
  return {0, 0, header.width, header.height};
}

bool IsPartOf(const std::vector<uint8_t>& whole, const Region& size, const Region& box,
              const Image& image) {
  for (int y = 0; y < image.height; ++y) {
    const size_t first = static_cast<size_t>(box.y + y) * size.width + box.x;
    if (!std::equal(image.row(y), image.row(y) + image.row_bytes(), &whole[3 * first]))
      return false;
  }
  return true;
}

size_t CountUnequal(const std::vector<Item>& items) {
  size_t unequal = 0;
  std::vector<uint8_t> whole;
  for (const Item& item : items) {
    const Region all = WholeOf(item);
    bench::CropByLibjpeg(item.original, all, whole);
    const bool equal = IsPartOf(whole, all, item.box, DecodeJpegRegion(item.tiled, item.box)) &&
                       IsPartOf(whole, all, item.box, DecodeJpegRegion(item.original, item.box)) &&
                       IsPartOf(whole, all, all, DecodeImage(item.original));
    unequal += equal ? 0 : 1;
  }
  return unequal;
}

// One way to decode all items, named for the output.
struct Side {
  const char* name;
  std::function<void(const Item&)> work;
};

// Items a second for each side. Sides take turns at every item, each being first in its turn, so
// that whatever else the machine does slows all alike.
std::vector<double> RatesOf(const std::vector<Item>& items, std::span<const Side> sides) {
  std::vector<double> seconds(sides.size());
  for (size_t i = 0; i < items.size(); ++i) {
    for (size_t k = 0; k < sides.size(); ++k) {
      const size_t side = (i + k) % sides.size();
      const auto start = std::chrono::steady_clock::now();
      sides[side].work(items[i]);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      seconds[side] += taken.count();
    }
  }
  for (double& value : seconds) value = static_cast<double>(items.size()) / value;
  return seconds;
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
  ImageDecoder full;
  Image image;
  std::vector<uint8_t> rows;
  const Side sides[] = {
      {"tiled", [&](const Item& item) { decoder.Decode(item.tiled, item.box, {}, image); }},
      {"original", [&](const Item& item) { decoder.Decode(item.original, item.box, {}, image); }},
      {"libjpeg_crop",
       [&](const Item& item) { bench::CropByLibjpeg(item.original, item.box, rows); }},
      {"whole", [&](const Item& item) { full.Decode(item.original, {}, image); }},
      {"libjpeg_whole",
       [&](const Item& item) { bench::CropByLibjpeg(item.original, WholeOf(item), rows); }},
  };
  constexpr size_t kTiled = 0, kOriginal = 1, kCrop = 2, kWhole = 3, kLibjpegWhole = 4;
  std::vector<double> rates[std::size(sides)], ratios[3];
  for (int round = 0; round < rounds; ++round) {
    const std::vector<double> now = RatesOf(items, sides);
    for (size_t i = 0; i < now.size(); ++i) rates[i].push_back(now[i]);
    ratios[0].push_back(rates[kTiled].back() / rates[kCrop].back());
    ratios[1].push_back(rates[kOriginal].back() / rates[kCrop].back());
    ratios[2].push_back(rates[kWhole].back() / rates[kLibjpegWhole].back());
    std::printf("{\"round\": %d", round);
    for (size_t i = 0; i < std::size(sides); ++i) {
      std::printf(", \"%s_per_s\": %.0f", sides[i].name, rates[i].back());
    }
    std::printf("}\n");
  }
  std::printf(
      "{\"bench\": \"image/crop\", \"files\": %zu, \"unequal\": %zu, \"size_ratio\": %.4f, "
      "\"rounds\": %d",
      items.size(), CountUnequal(items), static_cast<double>(after) / static_cast<double>(before),
      rounds);
  for (size_t i = 0; i < std::size(sides); ++i) {
    std::printf(", \"%s_per_s\": %.0f", sides[i].name, Median(rates[i]));
  }
  std::printf(", \"tiled_ratio\": %.3f, \"original_ratio\": %.3f, \"whole_ratio\": %.3f}\n",
              Median(ratios[0]), Median(ratios[1]), Median(ratios[2]));
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
