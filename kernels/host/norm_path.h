// Batch normalisation at one CPU level: chooses the row loops by type and arrays. A path defines
// RECPACK_PATH and RECPACK_TARGET and includes this file once.
#pragma once

#include <type_traits>

#include "kernels/host/norm_paths.h"
#include "kernels/host/norm_rows.h"

namespace recpack::RECPACK_PATH {

// Turns a run-time value into a constant: calls body(std::bool_constant<...>).
template <typename Body>
void AsConstant(bool value, const Body& body) {
  value ? body(std::true_type()) : body(std::false_type());
}

// Calls the body with Type<float> or Type<Bf16>.
template <typename T>
struct Of {
  using Type = T;
};
template <typename Body>
void AsType(ElementType type, const Body& body) {
  type == ElementType::kBf16 ? body(Of<Bf16>()) : body(Of<float>());
}

inline void Sums(ElementType type, const NormSumsArrays& arrays, size_t rows, size_t channels) {
  AsType(type, [&](auto t) { SumRows<typename decltype(t)::Type>(arrays, rows, channels); });
}

inline void Apply(ElementType type, const NormApplyArrays& arrays, bool relu, size_t rows,
                  size_t channels) {
  AsType(type, [&](auto t) {
    AsConstant(arrays.residual != nullptr, [&](auto residual) {
      AsConstant(relu, [&](auto with_relu) {
        ApplyRows<typename decltype(t)::Type, residual(), with_relu()>(arrays, rows, channels);
      });
    });
  });
}

template <typename T, NormMask kMask>
void MaskedGradientSums(const NormGradientSumsArrays& arrays, size_t rows, size_t channels) {
  AsConstant(arrays.dy_more != nullptr, [&](auto more) {
    AsConstant(arrays.g != nullptr, [&](auto write) {
      GradientSumRows<T, kMask, more(), write()>(arrays, rows, channels);
    });
  });
}

inline void GradientSums(ElementType type, const NormGradientSumsArrays& arrays, NormMask mask,
                         size_t rows, size_t channels) {
  AsType(type, [&](auto t) {
    using T = typename decltype(t)::Type;
    switch (mask) {
      case NormMask::kAll:
        return MaskedGradientSums<T, NormMask::kAll>(arrays, rows, channels);
      case NormMask::kFromX:
        return MaskedGradientSums<T, NormMask::kFromX>(arrays, rows, channels);
      case NormMask::kFromY:
        return MaskedGradientSums<T, NormMask::kFromY>(arrays, rows, channels);
    }
  });
}

inline void Gradient(ElementType type, const NormGradientApplyArrays& arrays, NormMask mask,
                     size_t rows, size_t channels) {
  AsType(type, [&](auto t) {
    AsConstant(mask == NormMask::kFromX, [&](auto masked) {
      GradientRows<typename decltype(t)::Type, masked()>(arrays, rows, channels);
    });
  });
}

inline constexpr NormPath kPath = {Sums, Apply, GradientSums, Gradient};

}  // namespace recpack::RECPACK_PATH
