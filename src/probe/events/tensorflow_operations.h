// Tells what operations of TensorFlow and XLA are for.
#pragma once

#include <string_view>

namespace recpack::probe {

// Returns the class (operation_class.h) of an operation on the CPU by its type: "Conv2D",
// "_MklMatMul", "dot". The text is valid forever.
std::string_view ClassifyTensorFlow(std::string_view type);

// Tells whether operations of this type call a function, whose operations are events as well.
bool ContainsOthers(std::string_view type);

}  // namespace recpack::probe
