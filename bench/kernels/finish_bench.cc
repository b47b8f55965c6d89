// Finishing images on one thread, every kind of CPU beside memset and memcpy of as many bytes as
// the result has, in one run.
//
//   finish_bench [ROUNDS [CASE]]
//
// Prints a JSON line a case: medians over rounds. "cache": one image is finished again and again
// into one place; "batch": images into a batch of 64 MiB. CASE is a part of a case's name.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "recpack/base/median.h"
#include "recpack/base/random.h"
#include "recpack/kernels/finish.h"

namespace recpack {
namespace {

constexpr size_t kBatchBytes = 64 << 20;

struct Case {
  std::string name;
  FinishOptions options;
  int margin;  // places go from -margin to margin
};

Case CaseOf(std::string name, int size, int margin, ImageLayout in, ImageLayout out,
            ElementType type) {
  FinishOptions o;
  o.in_layout = in;
  o.in_height = o.in_width = o.out_height = o.out_width = size;
  o.out_layout = out;
  o.type = type;
  const double mean[] = {0.485, 0.456, 0.406}, std[] = {0.229, 0.224, 0.225};
  return {std::move(name) + " " + ElementName(type), MeanStd(o, mean, std), margin};
}

std::vector<Case> Cases() {
  constexpr ImageLayout kNhwc = ImageLayout::kNhwc, kNchw = ImageLayout::kNchw;
  std::vector<Case> cases;
  for (const ElementType type :
       {ElementType::kF32, ElementType::kF16, ElementType::kBf16, ElementType::kU8}) {
    cases.push_back(CaseOf("32 pad-crop flip nchw to nchw", 32, 4, kNchw, kNchw, type));
  }
  for (const ElementType type : {ElementType::kF32, ElementType::kF16, ElementType::kU8}) {
    cases.push_back(CaseOf("224 flip nhwc to nchw", 224, 0, kNhwc, kNchw, type));
    cases.push_back(CaseOf("224 flip nhwc to nhwc", 224, 0, kNhwc, kNhwc, type));
  }
  return cases;
}

// Work for one image: `image` counts up, `to` is its place.
using Work = std::function<void(const std::vector<FinishGeometry>&, const uint8_t* from,
                                size_t images, uint8_t* to, size_t step)>;

struct Row {
  std::string name;
  Work work;
  std::vector<double> rates = {};
};

std::vector<Row> RowsOf(const Case& one) {
  std::vector<Row> rows;
  const size_t bytes = Finisher(one.options).out_bytes();
  const auto each = [](const std::vector<FinishGeometry>& places, size_t images, uint8_t* to,
                       size_t step, const auto& finish) {
    for (size_t i = 0; i < images; ++i, to += step) finish(places[i % places.size()], to);
  };
  rows.push_back(
      {"memset", [=](const auto& places, const uint8_t*, size_t n, uint8_t* to, size_t step) {
         each(places, n, to, step,
              [&](const FinishGeometry& place, uint8_t* out) { std::memset(out, place.x, bytes); });
       }});
  rows.push_back(
      {"memcpy", [=, from = std::vector<uint8_t>(bytes)](const auto& places, const uint8_t*,
                                                         size_t n, uint8_t* to, size_t step) {
         each(places, n, to, step,
              [&](const FinishGeometry&, uint8_t* out) { std::memcpy(out, from.data(), bytes); });
       }});
  const std::pair<const char*, CpuLevel> levels[] = {{"portable", CpuLevel::kPortable},
                                                     {"avx2", CpuLevel::kAvx2},
                                                     {"avx512", CpuLevel::kAvx512},
                                                     {"neon", CpuLevel::kNeon}};
  for (const auto& [name, level] : levels) {
    const bool neon = level == CpuLevel::kNeon;
    if (level > ActiveCpu() || (neon != (ActiveCpu() == CpuLevel::kNeon) && level != CpuLevel{})) {
      continue;
    }
    rows.push_back(
        {name, [=, finisher = Finisher(one.options, level)](const auto& places, const uint8_t* from,
                                                            size_t n, uint8_t* to, size_t step) {
           each(places, n, to, step,
                [&](const FinishGeometry& place, uint8_t* out) { finisher(from, place, out); });
         }});
  }
  return rows;
}

void Run(const Case& one, bool batch, int rounds) {
  const size_t bytes = Finisher(one.options).out_bytes();
  const size_t images = kBatchBytes / bytes;
  std::vector<uint8_t> memory(batch ? images * bytes + 64 : bytes + 64);
  uint8_t* const out = memory.data() + 64 - reinterpret_cast<uintptr_t>(memory.data()) % 64;
  std::vector<uint8_t> image(static_cast<size_t>(one.options.in_width * one.options.in_height * 3));
  std::vector<FinishGeometry> places(509);
  KeyedRandom random(5, 0, 0);
  for (uint8_t& value : image) value = static_cast<uint8_t>(random.NextBelow(256));
  for (FinishGeometry& place : places) {
    const auto sides = static_cast<uint32_t>(2 * one.margin + 1);
    place = {static_cast<int>(random.NextBelow(sides)) - one.margin,
             static_cast<int>(random.NextBelow(sides)) - one.margin, random.NextBelow(2) == 1};
  }
  std::vector<Row> rows = RowsOf(one);
  for (int round = -1; round < rounds; ++round) {
    for (Row& row : rows) {
      const auto start = std::chrono::steady_clock::now();
      row.work(places, image.data(), images, out, batch ? bytes : 0);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      if (round >= 0) row.rates.push_back(static_cast<double>(images) / taken.count());
    }
  }
  std::printf(
      "{\"bench\": \"kernels/finish\", \"case\": \"%s\", \"memory\": \"%s\", "
      "\"rounds\": %d, \"out_bytes\": %zu",
      one.name.c_str(), batch ? "batch" : "cache", rounds, bytes);
  for (const Row& row : rows) {
    const double rate = Median(row.rates);
    std::printf(", \"%s_per_s\": %.0f, \"%s_gb_per_s\": %.1f", row.name.c_str(), rate,
                row.name.c_str(), rate * static_cast<double>(bytes) / 1e9);
  }
  std::printf("}\n");
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 9;
  const std::string wanted = argc > 2 ? argv[2] : "";
  for (const recpack::Case& one : recpack::Cases()) {
    if (one.name.find(wanted) == std::string::npos) continue;
    for (const bool batch : {false, true}) recpack::Run(one, batch, rounds);
  }
  return 0;
}
