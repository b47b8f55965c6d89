#include "recpack/image/resize.h"

#include <algorithm>
#include <cmath>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {
namespace {

// Fractional bits of a weight: 32, less 8 of a pixel and 2 of head room for sums, as in Pillow.
constexpr int kPrecision = 32 - 8 - 2;
constexpr int32_t kHalf = 1 << (kPrecision - 1);

// The weights of one direction: output i is the sum of pixels[first[i] + k] * weights[i * taps + k]
// over k < count[i].
struct Filter {
  int taps = 0;
  std::vector<int> first = {}, count = {};
  std::vector<int32_t> weights = {};
};

double Triangle(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

Filter MakeFilter(int from, int to, bool antialias) {
  const double scale = static_cast<double>(from) / to;
  const double support = antialias ? std::max(scale, 1.0) : 1.0;
  Filter filter{.taps = static_cast<int>(std::ceil(support)) * 2 + 1};
  filter.weights.resize(static_cast<size_t>(to) * filter.taps);
  std::vector<double> exact(static_cast<size_t>(filter.taps));
  for (int i = 0; i < to; ++i) {
    const double centre = (i + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(centre - support + 0.5));
    const int count = std::min(from, static_cast<int>(centre + support + 0.5)) - first;
    double sum = 0;
    for (int k = 0; k < count; ++k) {
      exact[k] = Triangle((k + first - centre + 0.5) * (1.0 / support));
      sum += exact[k];
    }
    for (int k = 0; k < count; ++k) {
      filter.weights[static_cast<size_t>(i) * filter.taps + k] =
          static_cast<int32_t>(0.5 + exact[k] / sum * (1 << kPrecision));
    }
    filter.first.push_back(first);
    filter.count.push_back(count);
  }
  return filter;
}

uint8_t Narrow(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kPrecision, 0, 255)); }

template <int kChannels>
void ResizeRow(const uint8_t* from, const Filter& filter, int width, uint8_t* to) {
  for (int x = 0; x < width; ++x, to += kChannels) {
    const int32_t* weights = &filter.weights[static_cast<size_t>(x) * filter.taps];
    const uint8_t* pixel = from + static_cast<ptrdiff_t>(filter.first[x]) * kChannels;
    int32_t sums[kChannels];
    std::fill_n(sums, kChannels, kHalf);
    for (int k = 0; k < filter.count[x]; ++k, pixel += kChannels) {
      for (int c = 0; c < kChannels; ++c) sums[c] += pixel[c] * weights[k];
    }
    for (int c = 0; c < kChannels; ++c) to[c] = Narrow(sums[c]);
  }
}

Image ResizeColumns(const Image& image, int width, bool antialias) {
  const auto resize_row = image.channels == 1   ? ResizeRow<1>
                          : image.channels == 2 ? ResizeRow<2>
                          : image.channels == 3 ? ResizeRow<3>
                                                : ResizeRow<4>;
  const Filter filter = MakeFilter(image.width, width, antialias);
  Image out;
  out.Reshape(width, image.height, image.channels);
  for (int y = 0; y < image.height; ++y) resize_row(image.row(y), filter, width, out.row(y));
  return out;
}

Image ResizeRows(const Image& image, int height, bool antialias) {
  const Filter filter = MakeFilter(image.height, height, antialias);
  Image out;
  out.Reshape(image.width, height, image.channels);
  std::vector<int32_t> sums(image.row_bytes());
  for (int y = 0; y < height; ++y) {
    std::fill(sums.begin(), sums.end(), kHalf);
    for (int k = 0; k < filter.count[y]; ++k) {
      const int32_t weight = filter.weights[static_cast<size_t>(y) * filter.taps + k];
      const uint8_t* row = image.row(filter.first[y] + k);
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += row[i] * weight;
    }
    std::transform(sums.begin(), sums.end(), out.row(y), Narrow);
  }
  return out;
}

}  // namespace

Image Resize(const Image& image, const ResizeOptions& options) {
  const auto& [width, height, antialias] = options;
  if (image.width < 1 || image.height < 1 || image.channels < 1 || image.channels > 4 ||
      width < 1 || height < 1) {
    throw Error(ErrorKind::kInvalidArgument,
                format("cannot resize {}x{} pixels of {} channels to {}x{}", image.width,
                       image.height, image.channels, width, height));
  }
  Image out = width == image.width ? image : ResizeColumns(image, width, antialias);
  return height == out.height ? out : ResizeRows(out, height, antialias);
}

ImageSize ScaleShorterSide(ImageSize size, int shorter) {
  const auto scale = [&](int longer, int by) {
    return std::max(1, static_cast<int>(int64_t{shorter} * longer / by));
  };
  if (size.width <= size.height) return {shorter, scale(size.height, size.width)};
  return {scale(size.width, size.height), shorter};
}

}  // namespace recpack
