#include "src/loader/image/augment_tone.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

namespace recpack {
namespace {

using Table = std::array<uint8_t, 256>;
using Histogram = std::array<uint64_t, 256>;

template <typename Value>
Table MakeTable(Value value) {
  Table table;
  for (int i = 0; i < 256; ++i) table[static_cast<size_t>(i)] = static_cast<uint8_t>(value(i));
  return table;
}

Table Unchanged() {
  return MakeTable([](int i) { return i; });
}

void Apply(Image& image, const Table& table) {
  for (uint8_t& value : image.pixels) value = table[value];
}

// Maps each channel by the table that `make` computes from its histogram.
template <typename Make>
void ApplyByChannel(Image& image, Make make) {
  const auto channels = static_cast<size_t>(image.channels);
  for (size_t c = 0; c < channels; ++c) {
    Histogram histogram{};
    for (size_t i = c; i < image.pixels.size(); i += channels) ++histogram[image.pixels[i]];
    const Table table = make(histogram);
    for (size_t i = c; i < image.pixels.size(); i += channels) {
      image.pixels[i] = table[image.pixels[i]];
    }
  }
}

int Least(const Histogram& histogram) {
  int i = 0;
  while (i < 255 && histogram[static_cast<size_t>(i)] == 0) ++i;
  return i;
}

int Most(const Histogram& histogram) {
  int i = 255;
  while (i > 0 && histogram[static_cast<size_t>(i)] == 0) --i;
  return i;
}

Table Stretched(const Histogram& histogram) {
  const int low = Least(histogram);
  const int high = Most(histogram);
  if (high <= low) return Unchanged();
  const double scale = 255.0 / (high - low);
  const double offset = -low * scale;
  return MakeTable([&](int i) { return std::clamp(static_cast<int>(i * scale + offset), 0, 255); });
}

Table Equalized(const Histogram& histogram) {
  const uint64_t last = histogram[static_cast<size_t>(Most(histogram))];
  const uint64_t sum = std::accumulate(histogram.begin(), histogram.end(), uint64_t{0});
  const uint64_t step = (sum - last) / 255;
  if (step == 0) return Unchanged();
  uint64_t below = step / 2;
  return MakeTable([&](int i) {
    const uint64_t value = std::min<uint64_t>(below / step, 255);
    below += histogram[static_cast<size_t>(i)];
    return value;
  });
}

}  // namespace

void Posterize(Image& image, int bits) {
  const int mask = 0xff00 >> bits;
  Apply(image, MakeTable([mask](int i) { return i & mask; }));
}

void Solarize(Image& image, double threshold) {
  Apply(image, MakeTable([threshold](int i) { return i < threshold ? i : 255 - i; }));
}

void AutoContrast(Image& image) { ApplyByChannel(image, Stretched); }

void Equalize(Image& image) { ApplyByChannel(image, Equalized); }

}  // namespace recpack
