#include "kernels/finish.h"

#define RECPACK_TARGET
#include "kernels/host/finish_rows.h"

namespace recpack {
namespace {

struct PortableOps {
  struct Bytes {
    uint8_t of[kFinishStep];
  };
  struct Factors {
    float scale[kFinishStep], bias[kFinishStep];
  };

  static Bytes Load(const uint8_t* from) {
    Bytes bytes;
    std::memcpy(bytes.of, from, kFinishStep);
    return bytes;
  }
  static Factors LoadFactors(const float* scale, const float* bias) {
    Factors factors;
    std::copy_n(scale, kFinishStep, factors.scale);
    std::copy_n(bias, kFinishStep, factors.bias);
    return factors;
  }

  template <class Form, bool kFlip>
  static void Reorder(Bytes* bytes) {
    constexpr FinishOrder<Form::channels> kOrder = MakeOrder<Form, kFlip>();
    uint8_t from[kOrder.size()];
    std::memcpy(from, bytes, sizeof from);
    for (size_t i = 0; i < kOrder.size(); ++i) {
      bytes[i / kFinishStep].of[i % kFinishStep] = from[kOrder[i]];
    }
  }

  template <ElementType kType>
  static void Store(const Bytes& bytes, const Factors& factors, uint8_t* to) {
    if constexpr (kType == ElementType::kU8) {
      std::memcpy(to, bytes.of, kFinishStep);
      return;
    }
    // Separate arrays for the results, so that compilers can vectorise the loops.
    float values[kFinishStep];
    for (int i = 0; i < kFinishStep; ++i) {
      values[i] = Normalise(bytes.of[i], factors.scale[i], factors.bias[i]);
    }
    if constexpr (kType == ElementType::kF32) {
      std::memcpy(to, values, sizeof values);
    } else {
      uint16_t halves[kFinishStep];
      for (int i = 0; i < kFinishStep; ++i) {
        halves[i] = kType == ElementType::kF16 ? ToF16(values[i]) : ToBf16(values[i]);
      }
      std::memcpy(to, halves, sizeof halves);
    }
  }

  static constexpr size_t kWide = 16;
  static void CopyWide(const uint8_t* from, uint8_t* to) { std::memcpy(to, from, kWide); }
};

}  // namespace

FinishPath PortableFinish(const FinishOptions& options) { return ChoosePath<PortableOps>(options); }

}  // namespace recpack
