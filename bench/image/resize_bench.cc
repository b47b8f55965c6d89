// Resizing regions of RGB pictures to 224x224, every kind of CPU beside the scalar path, one
// thread, in one run.
//
//   resize_bench [ROUNDS]
//
// Prints a JSON line a case: the median over rounds of images a second of each, and of their ratio
// to the scalar path in the same round. Regions are those of random-resized-crop on 500x375 pixels;
// "300x250" is one size, for which weights are computed once.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "recpack/base/median.h"
#include "recpack/base/random.h"
#include "recpack/image/resize.h"
#include "src/image/resize/resize_kernels.h"

namespace recpack {
namespace {

constexpr int kWidth = 500, kHeight = 375, kSize = 224;

struct Case {
  std::string name;
  ResizeFilter filter;
  std::vector<Region> regions;
};

std::vector<Region> RandomRegions() {
  std::vector<Region> regions;
  KeyedRandom random(0, 0, 0);
  while (regions.size() < 200) {
    const double area = kWidth * kHeight * (0.08 + 0.92 * random.NextUnit());
    const double aspect = std::exp(std::log(4.0 / 3) * (2 * random.NextUnit() - 1));
    const int w = static_cast<int>(std::lround(std::sqrt(area * aspect)));
    const int h = static_cast<int>(std::lround(std::sqrt(area / aspect)));
    if (w > kWidth || h > kHeight) continue;
    regions.push_back({static_cast<int>(random.NextBelow(static_cast<uint32_t>(kWidth - w + 1))),
                       static_cast<int>(random.NextBelow(static_cast<uint32_t>(kHeight - h + 1))),
                       w, h});
  }
  return regions;
}

double PerSecond(Resizer& resizer, const Image& image, const Case& one, Image& out) {
  const auto start = std::chrono::steady_clock::now();
  for (const Region& region : one.regions) {
    resizer.Resize(ToView(image), region, one.filter, ToSpan(out));
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return static_cast<double>(one.regions.size()) / taken.count();
}

void RunCase(const Case& one, const Image& image, int rounds) {
  const auto kernels = AvailableResizeKernels();
  std::vector<std::vector<double>> rates(kernels.size()), ratios(kernels.size());
  Image out;
  out.Reshape(kSize, kSize, 3);
  std::vector<Resizer> resizers;
  for (const ResizeKernels* kernel : kernels) resizers.emplace_back(*kernel);
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < kernels.size(); ++i) {
      rates[i].push_back(PerSecond(resizers[i], image, one, out));
      ratios[i].push_back(rates[i].back() / rates[0].back());
    }
  }
  std::printf("{\"bench\": \"image/resize\", \"case\": \"%s\", \"rounds\": %d", one.name.c_str(),
              rounds);
  for (size_t i = 0; i < kernels.size(); ++i) {
    std::printf(", \"%s_per_s\": %.0f, \"%s_ratio\": %.2f", kernels[i]->name, Median(rates[i]),
                kernels[i]->name, Median(ratios[i]));
  }
  std::printf("}\n");
}

void Run(int rounds) {
  Image image;
  image.Reshape(kWidth, kHeight, 3);
  KeyedRandom random(1, 0, 0);
  for (uint8_t& value : image.pixels) value = static_cast<uint8_t>(random.NextBelow(256));
  const std::vector<Region> same(200, {100, 60, 300, 250}), crops = RandomRegions();
  for (const Case& one :
       std::vector<Case>{{"300x250 bilinear", ResizeFilter::kBilinear, same},
                         {"random-resized-crop bilinear", ResizeFilter::kBilinear, crops},
                         {"random-resized-crop two taps", ResizeFilter::kBilinearTwoTaps, crops},
                         {"random-resized-crop box", ResizeFilter::kBox, crops}}) {
    RunCase(one, image, rounds);
  }
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) {
  recpack::Run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 9);
  return 0;
}
