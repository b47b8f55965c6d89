// Reads the graph of an ONNX file (onnx.ai): nodes, constants, inputs and outputs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/train/ops/tensor.h"

namespace recpack::train {

// A constant. Either list holds the values, in C order, by its type in the file: f32 or i64.
struct OnnxTensor {
  Shape shape;
  std::vector<float> floats;
  std::vector<int64_t> integers;
};

struct OnnxAttribute {
  float number = 0;
  int64_t integer = 0;
  std::vector<int64_t> integers;
  std::string text;
  OnnxTensor tensor;
};

struct OnnxNode {
  std::string op;  // "Conv"
  std::string name;
  std::vector<std::string> inputs;  // names of values; empty: an optional one that is left out
  std::vector<std::string> outputs;
  std::map<std::string, OnnxAttribute> attributes;
};

struct OnnxInput {
  std::string name;
  Shape shape;  // -1: not fixed
};

struct OnnxGraph {
  std::vector<OnnxNode> nodes;  // in an order in which they can be computed
  std::map<std::string, OnnxTensor> constants;
  std::vector<OnnxInput> inputs;  // without those that are constants
  std::vector<std::string> outputs;
  std::string sha256;  // of the file
};

// Tells whether a path names an ONNX file, by its extension.
bool IsOnnxPath(const std::string& path);

// Values that the file keeps in other files are read too; those must lie in its folder. Throws
// Error: kNotFound, kIo; kCorrupt, with the offset, for a file that is cut off or is not ONNX;
// kUnsupported for constants of other types.
OnnxGraph ReadOnnx(const std::string& path);

}  // namespace recpack::train
