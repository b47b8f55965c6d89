// Where a network's activations are as integers, and how they come there and back.
#pragma once

#include <dnnl.hpp>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "src/train/ops/calibration.h"

namespace recpack::train {

// What a network does with an input, one after the other.
using Actions = std::vector<std::function<void(const void* input)>>;

// An activation: about scale times its integers. Does not own them.
struct IntegerValue {
  void* data = nullptr;
  dnnl::memory::data_type type = dnnl::memory::data_type::u8;  // or s8
  float scale = 1;
};

// While a network is being put together. Activations are named by where they are in f32.
class IntegerValues {
 public:
  // Both outlive it.
  IntegerValues(const Trace& trace, const ActivationRanges& ranges);

  static dnnl::memory::desc DescOf(const Tensor& tensor, dnnl::memory::data_type type);
  dnnl::memory MemoryOf(const Tensor& tensor, const IntegerValue& value) const;
  dnnl::memory Floats(const std::vector<float>& values) const;

  // As it is; null: in f32 alone.
  const IntegerValue* Find(const void* tensor) const;
  // From now on it is made anew: with the scale of another, or with that of its range.
  IntegerValue Make(const Tensor& tensor, dnnl::memory::data_type type, float scale);
  IntegerValue Make(const Tensor& tensor, bool is_unsigned);
  // From now on it is where another was.
  void Place(const Tensor& tensor, void* data) { values_.at(tensor.data).data = data; }
  // From now on it is in f32 alone.
  void Forget(const Tensor& tensor) { values_.erase(tensor.data); }

  // Converts where that is necessary.
  IntegerValue InIntegers(const Tensor& tensor);
  void InFloats(const Tensor& tensor);

  void Add(dnnl::primitive primitive, std::unordered_map<int, dnnl::memory> arguments);

  const dnnl::engine& engine() const noexcept { return engine_; }
  const dnnl::stream& stream() const noexcept { return stream_; }
  Actions& actions() noexcept { return actions_; }
  // What the actions need.
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
  std::set<const void*> in_floats_;  // of values_, those that are there in f32 as well
};

}  // namespace recpack::train
