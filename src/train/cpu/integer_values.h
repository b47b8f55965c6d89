// Integer copies of a network's activations, and conversions to and from f32.
#pragma once

#include <dnnl.hpp>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "src/train/trace/calibration.h"

namespace recpack::train {

// The operations of a network on an input, in order.
using Actions = std::vector<std::function<void(const void* input)>>;

// An activation: approximately scale times its integers. Does not own its memory.
struct IntegerValue {
  void* data = nullptr;
  dnnl::memory::data_type type = dnnl::memory::data_type::u8;  // or s8
  float scale = 1;
};

// Used while a network is built. Activations are identified by their f32 address.
class IntegerValues {
 public:
  // Both must outlive this object.
  IntegerValues(const Trace& trace, const ActivationRanges& ranges);

  static dnnl::memory::desc ToDesc(const Tensor& tensor, dnnl::memory::data_type type);
  dnnl::memory ToMemory(const Tensor& tensor, const IntegerValue& value) const;
  dnnl::memory Floats(const std::vector<float>& values) const;

  // The current integers; null: only in f32.
  const IntegerValue* Find(const void* tensor) const;
  // Creates new integers for the activation, with the given scale or that of its range.
  IntegerValue Make(const Tensor& tensor, dnnl::memory::data_type type, float scale);
  IntegerValue Make(const Tensor& tensor, bool is_unsigned);
  // Changes the memory of the activation's integers.
  void Place(const Tensor& tensor, void* data) { values_.at(tensor.data).data = data; }
  // Marks the activation as available in f32 only.
  void Forget(const Tensor& tensor) { values_.erase(tensor.data); }

  // Converts if necessary.
  IntegerValue InIntegers(const Tensor& tensor);
  void InFloats(const Tensor& tensor);

  // Copies integers of one scale to integers of another.
  void Rescale(const dnnl::memory& from, const dnnl::memory& to, float from_scale, float to_scale);

  void Add(dnnl::primitive primitive, std::unordered_map<int, dnnl::memory> arguments);

  const dnnl::engine& engine() const noexcept { return engine_; }
  const dnnl::stream& stream() const noexcept { return stream_; }
  Actions& actions() noexcept { return actions_; }
  // Memory that the actions use.
  std::vector<dnnl::memory>& buffers() noexcept { return buffers_; }

 private:
  void Convert(const dnnl::memory& from, const dnnl::memory& to, int scaled, float scale);

  const Trace& trace_;
  const ActivationRanges& ranges_;
  const dnnl::engine engine_;
  const dnnl::stream stream_;
  Actions actions_;
  std::vector<dnnl::memory> buffers_;
  std::map<const void*, IntegerValue> values_;
  std::set<const void*> in_floats_;  // keys of values_ that are also available in f32
};

}  // namespace recpack::train
