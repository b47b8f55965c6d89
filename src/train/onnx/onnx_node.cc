#include "src/train/onnx/onnx_node.h"

#include <algorithm>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

bool IsSmall(int64_t size) { return size > 0 && size < 1'000; }

}  // namespace

void NodeReader::Refuse(const std::string& reason) const {
  throw Error(ErrorKind::kUnsupported,
              format("the node '{}' ({}) {}", node_.name, node_.op, reason), {}, kOnnxSupported);
}

void NodeReader::Require(bool holds, const char* what) const {
  if (!holds) Refuse(format("has {}", what));
}

const std::string& NodeReader::Input(size_t number) const {
  if (number >= node_.inputs.size()) Refuse(format("has {} inputs", node_.inputs.size()));
  return node_.inputs[number];
}

bool NodeReader::HasInput(size_t number) const {
  return number < node_.inputs.size() && !node_.inputs[number].empty();
}

int64_t NodeReader::Integer(const char* name, int64_t otherwise) const {
  const auto found = node_.attributes.find(name);
  return found == node_.attributes.end() ? otherwise : found->second.integer;
}

float NodeReader::Number(const char* name, float otherwise) const {
  const auto found = node_.attributes.find(name);
  return found == node_.attributes.end() ? otherwise : found->second.number;
}

std::vector<int64_t> NodeReader::Integers(const char* name, std::vector<int64_t> otherwise) const {
  const auto found = node_.attributes.find(name);
  if (found == node_.attributes.end()) return otherwise;
  return found->second.integers;
}

int NodeReader::Kernel(size_t axis) const {
  const std::vector<int64_t> kernel = Integers("kernel_shape", {});
  Require(kernel.size() == 2 && std::ranges::all_of(kernel, IsSmall),
          "a kernel that is not of two dimensions");
  return static_cast<int>(kernel[axis]);
}

int NodeReader::Stride() const {
  const std::vector<int64_t> strides = Integers("strides", {1, 1});
  Require(strides.size() == 2 && strides[0] == strides[1] && IsSmall(strides[0]),
          "strides that differ");
  Require(std::ranges::all_of(Integers("dilations", {1, 1}), [](int64_t d) { return d == 1; }),
          "dilations");
  return static_cast<int>(strides[0]);
}

int NodeReader::Pad(size_t axis) const {
  const auto automatic = node_.attributes.find("auto_pad");
  Require(automatic == node_.attributes.end() || automatic->second.text == "NOTSET" ||
              automatic->second.text == "VALID",
          "automatic padding");
  const std::vector<int64_t> pads = Integers("pads", {0, 0, 0, 0});
  Require(
      pads.size() == 4 && pads[axis] == pads[axis + 2] && (pads[axis] == 0 || IsSmall(pads[axis])),
      "padding that differs between sides");
  return static_cast<int>(pads[axis]);
}

}  // namespace recpack::train
