#if defined(__aarch64__)
#include <arm_neon.h>

#define RECPACK_TARGET
#include "kernels/host/finish_rows.h"

namespace recpack {
namespace {

struct NeonOps {
  using Bytes = uint8x16_t;
  struct Factors {
    float32x4_t scale[4], bias[4];
  };

  static Bytes Load(const uint8_t* from) { return vld1q_u8(from); }
  static Factors LoadFactors(const float* scale, const float* bias) {
    Factors factors;
    for (int i = 0; i < 4; ++i) {
      factors.scale[i] = vld1q_f32(scale + 4 * i);
      factors.bias[i] = vld1q_f32(bias + 4 * i);
    }
    return factors;
  }

  static Bytes LookUp(const Bytes (&table)[1], Bytes index) { return vqtbl1q_u8(table[0], index); }
  static Bytes LookUp(const Bytes (&table)[2], Bytes index) {
    return vqtbl2q_u8({{table[0], table[1]}}, index);
  }
  static Bytes LookUp(const Bytes (&table)[3], Bytes index) {
    return vqtbl3q_u8({{table[0], table[1], table[2]}}, index);
  }
  static Bytes LookUp(const Bytes (&table)[4], Bytes index) {
    return vqtbl4q_u8({{table[0], table[1], table[2], table[3]}}, index);
  }

  template <class Form, bool kFlip>
  static void Reorder(Bytes* bytes) {
    static constexpr FinishOrder<Form::channels> kOrder = MakeOrder<Form, kFlip>();
    Bytes table[Form::channels];
    for (size_t c = 0; c < Form::channels; ++c) table[c] = bytes[c];
    for (size_t c = 0; c < Form::channels; ++c) {
      bytes[c] = LookUp(table, vld1q_u8(kOrder.data() + c * kFinishStep));
    }
  }

  static float32x4_t Normalised(uint16x4_t bytes, float32x4_t scale, float32x4_t bias) {
    return vaddq_f32(vmulq_f32(vcvtq_f32_u32(vmovl_u16(bytes)), scale), bias);
  }

  // See ToBf16().
  static uint16x4_t Bf16(float32x4_t value) {
    const uint32x4_t bits = vreinterpretq_u32_f32(value);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    return vshrn_n_u32(vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7fff))), 16);
  }

  // Stores four elements.
  template <ElementType kType>
  static void Put(float32x4_t value, uint8_t* to) {
    if constexpr (kType == ElementType::kF32) {
      vst1q_u8(to, vreinterpretq_u8_f32(value));
    } else if constexpr (kType == ElementType::kF16) {
      vst1_u8(to, vreinterpret_u8_f16(vcvt_f16_f32(value)));
    } else {
      vst1_u8(to, vreinterpret_u8_u16(Bf16(value)));
    }
  }

  template <ElementType kType>
  static void Store(Bytes bytes, const Factors& factors, uint8_t* to) {
    if constexpr (kType == ElementType::kU8) {
      vst1q_u8(to, bytes);
      return;
    }
    const uint16x8_t low = vmovl_u8(vget_low_u8(bytes)), high = vmovl_u8(vget_high_u8(bytes));
    const uint16x4_t quarters[4] = {vget_low_u16(low), vget_high_u16(low), vget_low_u16(high),
                                    vget_high_u16(high)};
    constexpr size_t kBytes = kType == ElementType::kF32 ? 16 : 8;
    for (size_t i = 0; i < 4; ++i) {
      Put<kType>(Normalised(quarters[i], factors.scale[i], factors.bias[i]), to + i * kBytes);
    }
  }

  static constexpr size_t kWide = 16;
  static void CopyWide(const uint8_t* from, uint8_t* to) { vst1q_u8(to, vld1q_u8(from)); }
};

}  // namespace

FinishPath NeonFinish(const FinishOptions& options) { return ChoosePath<NeonOps>(options); }

}  // namespace recpack
#endif
