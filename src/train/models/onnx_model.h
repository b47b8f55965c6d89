// Network of an ONNX file, for evaluation only.
#pragma once

#include <memory>

#include "src/train/models/model.h"
#include "src/train/onnx/onnx_network.h"

namespace recpack::train {

// Reads `image` and `label` like the ResNet. Its variables have the graph's values from Build() on;
// Backward() throws Error (kUnsupported).
std::unique_ptr<Model> MakeOnnxModel(const ModelContext& context,
                                     std::shared_ptr<const OnnxNetwork> network);

}  // namespace recpack::train
