// Words for the types and layouts of images.
#pragma once

#include "python/convert/choice.h"
#include "recpack/loader/image_field.h"

namespace recpack::python {

constexpr Words<ElementType, 5> kImageTypes = {{{"u8", ElementType::kU8},
                                                {"i32", ElementType::kI32},
                                                {"f16", ElementType::kF16},
                                                {"bf16", ElementType::kBf16},
                                                {"f32", ElementType::kF32}}};
constexpr Words<ImageLayout, 2> kLayouts = {
    {{"nchw", ImageLayout::kNchw}, {"nhwc", ImageLayout::kNhwc}}};

}  // namespace recpack::python
