#include "kernels/mix.h"

#include <cstring>
#include <string>

#include "recpack/base/error.h"
#include "recpack/kernels/mix.h"

namespace recpack {
namespace {

template <typename Element, typename Load, typename Store>
void Mix(double share, void* into, const void* other, size_t count, Load load, Store store) {
  auto* to = static_cast<Element*>(into);
  const auto* from = static_cast<const Element*>(other);
  const auto own = static_cast<float>(share);
  const auto others = static_cast<float>(1 - share);
  for (size_t i = 0; i < count; ++i) {
    to[i] = store(MixValues(load(to[i]), load(from[i]), own, others));
  }
}

}  // namespace

void MixInto(ElementType type, double share, void* into, const void* other, size_t count) {
  const auto same = [](float value) { return value; };
  switch (type) {
    case ElementType::kU8:
      return Mix<uint8_t>(
          share, into, other, count, [](uint8_t value) { return static_cast<float>(value); },
          [](float value) { return static_cast<uint8_t>(value + 0.5F); });
    case ElementType::kF16:
      return Mix<uint16_t>(share, into, other, count, FromF16, ToF16);
    case ElementType::kBf16:
      return Mix<uint16_t>(share, into, other, count, FromBf16, ToBf16);
    case ElementType::kF32:
      return Mix<float>(share, into, other, count, same, same);
    default:
      throw Error(ErrorKind::kInvalidArgument,
                  std::string("elements of type ") + ElementName(type) + " cannot be mixed", {},
                  "mix u8, f16, bf16 or f32");
  }
}

}  // namespace recpack
