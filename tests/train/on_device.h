// Copies arrays between a test and a device.
#pragma once

#include <cstring>
#include <vector>

#include "src/train/ops/ops.h"

namespace recpack::train {

// Keeps values on the device, as f32 or in the tensor's type and layout.
class OnDevice {
 public:
  explicit OnDevice(Ops& ops) : ops_(ops) {}

  template <typename T>
  T* Raw(const std::vector<T>& values) {
    arrays_.push_back(ops_.Allocate(values.size() * sizeof(T)));
    ops_.Upload(arrays_.back().data(), values.data(), values.size() * sizeof(T));
    return arrays_.back().As<T>();
  }

  // `values` in the order of `shape`: NCHW.
  Tensor Of(const std::vector<float>& values, const Shape& shape, ElementType type,
            ImageLayout layout) {
    const Tensor from{Raw(values), ElementType::kF32, shape, ImageLayout::kNchw};
    const Tensor to = Empty(shape, type, layout);
    ops_.Convert(from, to);
    return to;
  }
  Tensor Empty(const Shape& shape, ElementType type, ImageLayout layout) {
    Tensor tensor{nullptr, type, shape, layout};
    arrays_.push_back(ops_.Allocate(tensor.bytes()));
    tensor.data = arrays_.back().data();
    return tensor;
  }

  // As f32 in the order of the shape.
  std::vector<float> Back(const Tensor& tensor) {
    const Tensor plain = Empty(tensor.shape, ElementType::kF32, ImageLayout::kNchw);
    ops_.Convert(tensor, plain);
    return Floats(plain.As<float>(), static_cast<size_t>(tensor.elements()));
  }
  std::vector<float> Floats(const float* from, size_t count) {
    std::vector<float> values(count);
    ops_.Download(values.data(), from, count * sizeof(float));
    return values;
  }

 private:
  Ops& ops_;
  std::vector<DeviceArray> arrays_;
};

}  // namespace recpack::train
