// Reads the constants of an ONNX file.
#pragma once

#include <string>

#include "src/train/onnx/external_values.h"
#include "src/train/onnx/onnx_file.h"
#include "src/train/onnx/onnx_message.h"

namespace recpack::train {

class OnnxTensorReader {
 public:
  // `path`: of the file. `messages`: not owned.
  OnnxTensorReader(const OnnxMessages& messages, const std::string& path)
      : messages_(messages), external_(path) {}

  // Reads a TensorProto and its name. Throws Error: kCorrupt if its values do not fit its shape;
  // kUnsupported for values other than f32 and i64; errors of ExternalValues::Read().
  OnnxTensor Read(ByteView message, std::string& name);

 private:
  void TakeLocation(ByteView message, ExternalLocation& location) const;

  const OnnxMessages& messages_;
  ExternalValues external_;
};

}  // namespace recpack::train
