// Translates an ONNX graph of an image classifier into layers that the trainer's operations
// compute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/train/onnx/onnx_layer.h"

namespace recpack::train {

struct OnnxNetwork {
  std::vector<OnnxLayer> layers;  // each after those that it reads; the last one gives the logits
  int64_t image = 0;              // height and width of the image, which has three channels
  int64_t classes = 0;
  std::string sha256;  // of the file
};

// Softmax at the end and dropout are left out. Throws errors of ReadOnnx(); Error (kUnsupported)
// that names the node and what is supported, for graphs of other operations or forms.
OnnxNetwork ReadOnnxNetwork(const std::string& path);

}  // namespace recpack::train
