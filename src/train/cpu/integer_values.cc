#include "src/train/cpu/integer_values.h"

#include <algorithm>
#include <utility>

#include "src/train/cpu/onednn.h"

namespace recpack::train {
namespace {

using dnnl::memory;
using DataType = memory::data_type;

constexpr float kLargestSigned = 127;

// Without VNNI, oneDNN adds pairs of products in 16 bits, which full unsigned 8-bit values
// overflow.
float LargestUnsigned() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41:
    case dnnl::cpu_isa::avx:
    case dnnl::cpu_isa::avx2:
    case dnnl::cpu_isa::avx512_core:
      return 127;
    default:
      return 255;
  }
}

}  // namespace

IntegerValues::IntegerValues(const Trace& trace, const ActivationRanges& ranges)
    : trace_(trace), ranges_(ranges), engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

memory::desc IntegerValues::ToDesc(const Tensor& tensor, DataType type) {
  const memory::desc of_bytes = tensor.shape.size() == 4
                                    ? DnnlPicture(tensor.shape, ElementType::kU8, tensor.layout)
                                    : DnnlDense(tensor.shape, ElementType::kU8);
  return {of_bytes.get_dims(), type, of_bytes.get_strides()};
}

memory IntegerValues::ToMemory(const Tensor& tensor, const IntegerValue& value) const {
  return {ToDesc(tensor, value.type), engine_, value.data};
}

memory IntegerValues::Floats(const std::vector<float>& values) const {
  memory floats(DnnlDense({static_cast<int64_t>(values.size())}, ElementType::kF32), engine_);
  std::copy(values.begin(), values.end(), static_cast<float*>(floats.get_data_handle()));
  return floats;
}

const IntegerValue* IntegerValues::Find(const void* tensor) const {
  const auto found = values_.find(tensor);
  return found == values_.end() ? nullptr : &found->second;
}

IntegerValue IntegerValues::Make(const Tensor& tensor, DataType type, float scale) {
  in_floats_.erase(tensor.data);
  buffers_.emplace_back(ToDesc(tensor, type), engine_);
  return values_[tensor.data] = {buffers_.back().get_data_handle(), type, scale};
}

IntegerValue IntegerValues::Make(const Tensor& tensor, bool is_unsigned) {
  const float range = ranges_.at(tensor.data);
  const float largest = is_unsigned ? LargestUnsigned() : kLargestSigned;
  return Make(tensor, is_unsigned ? DataType::u8 : DataType::s8, range > 0 ? range / largest : 1);
}

IntegerValue IntegerValues::InIntegers(const Tensor& tensor) {
  if (const IntegerValue* there = Find(tensor.data)) return *there;
  const IntegerValue value = Make(tensor, false);
  in_floats_.insert(tensor.data);
  Convert({ToDesc(tensor, DataType::f32), engine_, tensor.data}, ToMemory(tensor, value),
          DNNL_ARG_DST, value.scale);
  return value;
}

void IntegerValues::InFloats(const Tensor& tensor) {
  const IntegerValue* value = Find(tensor.data);
  if (!value || !in_floats_.insert(tensor.data).second) return;
  Convert(ToMemory(tensor, *value), {ToDesc(tensor, DataType::f32), engine_, tensor.data},
          DNNL_ARG_SRC, value->scale);
}

// Reads of the network's input use the input given to the action.
void IntegerValues::Convert(const memory& from, const memory& to, int scaled, float scale) {
  dnnl::primitive_attr attributes;
  attributes.set_scales_mask(scaled, 0);
  const dnnl::reorder::primitive_desc desc(from, to, attributes);
  actions_.push_back([stream = stream_, primitive = dnnl::reorder(desc), from, to, scaled,
                      input = from.get_data_handle() == trace_.input.data,
                      scales = Floats({scale})](const void* given) {
    memory read = from;
    if (input) read.set_data_handle(const_cast<void*>(given));
    primitive.execute(
        stream,
        {{DNNL_ARG_FROM, read}, {DNNL_ARG_TO, to}, {DNNL_ARG_ATTR_SCALES | scaled, scales}});
  });
}

void IntegerValues::Rescale(const memory& from, const memory& to, float from_scale,
                            float to_scale) {
  dnnl::primitive_attr attributes;
  attributes.set_scales_mask(DNNL_ARG_SRC, 0);
  attributes.set_scales_mask(DNNL_ARG_DST, 0);
  Add(dnnl::reorder(dnnl::reorder::primitive_desc(from, to, attributes)),
      {{DNNL_ARG_FROM, from},
       {DNNL_ARG_TO, to},
       {DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, Floats({from_scale})},
       {DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, Floats({to_scale})}});
}

void IntegerValues::Add(dnnl::primitive primitive, std::unordered_map<int, memory> arguments) {
  actions_.push_back(
      [stream = stream_, primitive = std::move(primitive),
       arguments = std::move(arguments)](const void*) { primitive.execute(stream, arguments); });
}

}  // namespace recpack::train
