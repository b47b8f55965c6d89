// Tests that all paths of batch normalisation give the same bits and match the definitions.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/host/norm_paths.h"
#include "recpack/base/cpu.h"
#include "recpack/base/random.h"

namespace recpack {
namespace {

struct NamedPath {
  const char* name;
  NormPath path;
};

std::vector<NamedPath> Paths() {
  std::vector<NamedPath> paths = {{"portable", PortableNorm()}};
#if defined(__x86_64__)
  if (ActiveCpu() >= CpuLevel::kAvx2) paths.push_back({"avx2", Avx2Norm()});
  if (ActiveCpu() >= CpuLevel::kAvx512) paths.push_back({"avx512", Avx512Norm()});
#endif
  return paths;
}

std::vector<float> Random(size_t count, uint64_t seed) {
  KeyedRandom random(seed, 1, 2);
  std::vector<float> values(count);
  for (float& value : values) value = 4 * random.NextUnit() - 2;
  return values;
}

// Converts values to the kernels' memory format.
struct Activation {
  ElementType type;
  std::vector<uint8_t> bytes;

  Activation(ElementType of, const std::vector<float>& values)
      : type(of), bytes(values.size() * ElementBytes(of)) {
    for (size_t i = 0; i < values.size(); ++i) {
      const auto bits = std::bit_cast<uint32_t>(values[i]);
      if (type == ElementType::kF32) {
        std::memcpy(&bytes[i * 4], &bits, 4);
      } else {
        const auto half = static_cast<uint16_t>(bits >> 16);
        std::memcpy(&bytes[i * 2], &half, 2);
      }
    }
  }
  float operator[](size_t i) const {
    if (type == ElementType::kF32) {
      float value;
      std::memcpy(&value, &bytes[i * 4], 4);
      return value;
    }
    uint16_t half;
    std::memcpy(&half, &bytes[i * 2], 2);
    return std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
  }
};

// Returns the concatenated results of all passes for one input.
struct Made {
  std::vector<float> sums, products;
  std::vector<Activation> activations;
};

struct Input {
  ElementType type;
  size_t rows, channels;
  Activation x, more, y;
  std::vector<float> factor, term, mean;

  Input(ElementType of, size_t r, size_t c)
      : type(of),
        rows(r),
        channels(c),
        x(of, Random(r * c, 1)),
        more(of, Random(r * c, 2)),
        y(of, Random(r * c, 3)),
        factor(Random(c, 4)),
        term(Random(c, 5)),
        mean(Random(c, 6)) {}
};

Made Passes(const NormPath& path, const Input& in, NormMask mask, bool extra) {
  Made made{std::vector<float>(in.channels, 1), std::vector<float>(in.channels, 2), {}};
  const Activation nothing(in.type, std::vector<float>(in.rows * in.channels));
  made.activations = {nothing, nothing, nothing};
  auto* const out = made.activations.data();
  path.sums(in.type, {in.x.bytes.data(), in.mean.data(), made.sums.data(), made.products.data()},
            in.rows, in.channels);
  path.apply(in.type,
             {in.x.bytes.data(), extra ? in.more.bytes.data() : nullptr, out[0].bytes.data(),
              in.factor.data(), in.term.data()},
             extra, in.rows, in.channels);
  path.gradient_sums(
      in.type,
      {in.y.bytes.data(), extra ? in.more.bytes.data() : nullptr, in.x.bytes.data(),
       in.y.bytes.data(), in.factor.data(), in.term.data(), in.mean.data(),
       extra ? out[1].bytes.data() : nullptr, made.sums.data(), made.products.data()},
      mask, in.rows, in.channels);
  path.gradient_apply(in.type,
                      {in.y.bytes.data(), in.x.bytes.data(), out[2].bytes.data(), in.factor.data(),
                       in.term.data(), in.mean.data(), in.factor.data(), in.term.data()},
                      mask, in.rows, in.channels);
  return made;
}

TEST(Norm, EveryPathGivesTheSameBits) {
  for (const ElementType type : {ElementType::kF32, ElementType::kBf16}) {
    for (const size_t channels : {1u, 7u, 16u, 19u, 48u, 64u, 80u, 131u, 256u}) {
      const Input in(type, 37, channels);
      for (const NormMask mask : {NormMask::kAll, NormMask::kFromX, NormMask::kFromY}) {
        for (const bool extra : {false, true}) {
          const Made expected = Passes(PortableNorm(), in, mask, extra);
          for (const auto& [name, path] : Paths()) {
            SCOPED_TRACE(name);
            const Made made = Passes(path, in, mask, extra);
            EXPECT_EQ(made.sums, expected.sums);
            EXPECT_EQ(made.products, expected.products);
            for (size_t i = 0; i < 3; ++i) {
              EXPECT_EQ(made.activations[i].bytes, expected.activations[i].bytes) << i;
            }
          }
        }
      }
    }
  }
}

TEST(Norm, DoesWhatItsDefinitionsSay) {
  for (const ElementType type : {ElementType::kF32, ElementType::kBf16}) {
    const Input in(type, 21, 19);
    const double rounding = type == ElementType::kF32 ? 1e-6 : 1e-2;
    for (const NormMask mask : {NormMask::kAll, NormMask::kFromX, NormMask::kFromY}) {
      const Made made = Passes(PortableNorm(), in, mask, true);
      for (size_t c = 0; c < in.channels; ++c) {
        double sum = 1, product = 2;
        for (size_t row = 0; row < in.rows; ++row) {
          const size_t i = row * in.channels + c;
          const double x = in.x[i], shifted = x - in.mean[c];
          const double normal = x * in.factor[c] + in.term[c];
          const auto passed = [&](double g) {
            if (mask == NormMask::kFromX) return normal > 0 ? g : 0;
            return mask == NormMask::kFromY && !(in.y[i] > 0) ? 0 : g;
          };
          const double g = passed(static_cast<double>(in.y[i]) + in.more[i]);
          sum += shifted + g;
          product += shifted * shifted + g * shifted;
          EXPECT_NEAR(made.activations[0][i], std::max(0.0, normal + in.more[i]), 8 * rounding);
          EXPECT_NEAR(made.activations[1][i], g, 4 * rounding);
          const double alone = mask == NormMask::kFromX && !(normal > 0) ? 0 : in.y[i];
          EXPECT_NEAR(made.activations[2][i], in.mean[c] * alone + in.factor[c] * x + in.term[c],
                      16 * rounding);
        }
        EXPECT_NEAR(made.sums[c], sum, 1e-4);
        EXPECT_NEAR(made.products[c], product, 1e-3);
      }
    }
  }
}

}  // namespace
}  // namespace recpack
