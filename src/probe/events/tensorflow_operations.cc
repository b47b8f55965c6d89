#include "src/probe/events/tensorflow_operations.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "src/probe/events/operation_class.h"

namespace recpack::probe {
namespace {

// Types of TensorFlow's operations whose names do not tell their class to ClassifyOperation().
constexpr std::pair<std::string_view, std::string_view> kOperations[] = {
    {"Conv2D", "convolution forward"},
    {"_MklNativeConv2D", "convolution forward"},
    {"_MklNativeFusedConv2D", "convolution forward"},
    {"_FusedConv2D", "convolution forward"},
    {"dot", "matrix product"},
    {"convolution", "convolution"},
    {"Mean", "reduction"},
    {"Sum", "reduction"},
    {"Max", "reduction"},
    {"BiasAddGrad", "reduction"},
    {"Add", "elementwise"},
    {"AddV2", "elementwise"},
    {"AddN", "elementwise"},
    {"Sub", "elementwise"},
    {"Mul", "elementwise"},
    {"_MklMul", "elementwise"},
    {"_MklAddV2", "elementwise"},
    {"RealDiv", "elementwise"},
    {"Square", "elementwise"},
    {"Sqrt", "elementwise"},
    {"Rsqrt", "elementwise"},
    {"Relu", "activation"},
    {"ReluGrad", "activation"},
    {"Tanh", "activation"},
    {"TanhGrad", "activation"},
    {"Pad", "padding"},
    {"PadV2", "padding"},
    {"Tile", "broadcasting"},
    {"BroadcastTo", "broadcasting"},
    {"AssignSubVariableOp", "optimiser"},
    {"AssignAddVariableOp", "optimiser"},
    {"ResourceApplyGradientDescent", "optimiser"},
    {"ResourceApplyKerasMomentum", "optimiser"},
    {"ResourceApplyMomentum", "optimiser"}};

}  // namespace

std::string_view ClassifyTensorFlow(std::string_view type) {
  const auto* const found =
      std::ranges::find(kOperations, type, &std::pair<std::string_view, std::string_view>::first);
  return found != std::end(kOperations) ? found->second : ClassifyOperation(type);
}

bool ContainsOthers(std::string_view type) {
  constexpr std::string_view kCalls[] = {
      "PartitionedCall", "StatefulPartitionedCall", "While", "StatelessWhile", "If", "StatelessIf"};
  return std::ranges::find(kCalls, type) != std::end(kCalls);
}

}  // namespace recpack::probe
