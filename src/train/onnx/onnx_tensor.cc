#include "src/train/onnx/onnx_tensor.h"

#include <algorithm>
#include <bit>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

// Values of TensorProto.DataType.
constexpr uint64_t kFloat = 1, kInt64 = 7;

void Decode(ByteView raw, uint64_t type, OnnxTensor& tensor) {
  for (size_t i = 0; type == kFloat && i + sizeof(float) <= raw.size(); i += sizeof(float)) {
    tensor.floats.push_back(std::bit_cast<float>(LoadLittleEndian<uint32_t>(raw.data() + i)));
  }
  for (size_t i = 0; type == kInt64 && i + sizeof(int64_t) <= raw.size(); i += sizeof(int64_t)) {
    tensor.integers.push_back(static_cast<int64_t>(LoadLittleEndian<uint64_t>(raw.data() + i)));
  }
}

void CheckSize(const std::string& name, const OnnxTensor& tensor) {
  uint64_t elements = 1;
  const uint64_t there = std::max(tensor.floats.size(), tensor.integers.size());
  for (const int64_t extent : tensor.shape) {
    // None is larger than the product, unless that is 0.
    const bool fits = extent >= 0 && static_cast<uint64_t>(extent) <= there && elements <= there;
    elements = fits ? elements * static_cast<uint64_t>(extent) : there + 1;
  }
  if (elements == there) return;
  throw Error(ErrorKind::kCorrupt,
              format("has {} values of the constant '{}', whose shape is another", there, name));
}

}  // namespace

void OnnxTensorReader::TakeLocation(ByteView message, ExternalLocation& location) const {
  std::string key, value;
  messages_.Walk(message, [&](uint32_t field, WireReader& reader) {
    if (field != 1 && field != 2) return false;
    (field == 1 ? key : value) = ToText(reader.ReadLengthDelimited());
    return true;
  });
  location.Set(key, value);
}

OnnxTensor OnnxTensorReader::Read(ByteView message, std::string& name) {
  OnnxTensor tensor;
  uint64_t type = 0;
  bool is_external = false;
  ExternalLocation location;
  ByteView raw;
  messages_.Walk(message, [&](uint32_t field, WireReader& reader) {
    switch (field) {
      case 1:
        messages_.AddIntegers(reader, tensor.shape);
        return true;
      case 2:
        type = reader.ReadVarint();
        return true;
      case 4:
        messages_.AddFloats(reader, tensor.floats);
        return true;
      case 7:
        messages_.AddIntegers(reader, tensor.integers);
        return true;
      case 8:
        name = ToText(reader.ReadLengthDelimited());
        return true;
      case 9:
        raw = reader.ReadLengthDelimited();
        return true;
      case 13:
        TakeLocation(reader.ReadLengthDelimited(), location);
        return true;
      case 14:
        is_external = reader.ReadVarint() == 1;
        return true;
      default:
        return false;
    }
  });
  if (type != kFloat && type != kInt64) {
    throw Error(ErrorKind::kUnsupported,
                format("has the constant '{}' of the type {} (TensorProto.DataType)", name, type),
                {}, "export it in float32");
  }
  if (is_external) raw = external_.Read(name, location);
  Decode(raw, type, tensor);
  CheckSize(name, tensor);
  return tensor;
}

}  // namespace recpack::train
