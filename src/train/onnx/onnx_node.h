// Reads the attributes of an ONNX node, and refuses forms that the trainer's operations do not
// compute.
#pragma once

#include <string>
#include <vector>

#include "src/train/onnx/onnx_file.h"

namespace recpack::train {

inline constexpr char kOnnxSupported[] =
    "networks of Conv, BatchNormalization, Relu, Add, MaxPool, AveragePool, GlobalAveragePool, "
    "Flatten and Gemm, such as "
    "ResNets and VGG, can be evaluated";

// Members throw Error (kUnsupported) that names the node.
class NodeReader {
 public:
  explicit NodeReader(const OnnxNode& node) : node_(node) {}

  // `reason`: follows "the node 'x' (Conv)".
  [[noreturn]] void Refuse(const std::string& reason) const;
  // `what` it has where that does not hold.
  void Require(bool holds, const char* what) const;

  const std::string& Input(size_t number) const;
  bool HasInput(size_t number) const;

  int64_t Integer(const char* name, int64_t otherwise) const;
  float Number(const char* name, float otherwise) const;
  std::vector<int64_t> Integers(const char* name, std::vector<int64_t> otherwise) const;

  // Sizes of a convolution or pooling. `axis`: 0 is the height, 1 the width.
  int Kernel(size_t axis) const;
  int Stride() const;
  int Pad(size_t axis) const;  // on each side

 private:
  const OnnxNode& node_;
};

}  // namespace recpack::train
