// Arrays that a run would save; every value encodes its step.
#pragma once

#include <string>
#include <vector>

#include "src/train/checkpoint/checkpoint.h"

namespace recpack::train {

struct RunState {
  explicit RunState(uint64_t step, int64_t width = 16) {
    info = {.model = "net",
            .model_options = R"({"width":)" + std::to_string(width) + "}",
            .step = step,
            .epoch = step / 10,
            .seed = 7,
            .loader_token = "token of " + std::to_string(step),
            .sums = {{"loss", 1.0 / static_cast<double>(step + 3)}},
            .versions = {{"recpack", "0.1.0"}}};
    for (const char* name :
         {"conv1.weight", "bn1.running_mean", "optimizer.momentum/conv1.weight"}) {
      values.emplace_back(width * 27, static_cast<float>(step));
      values.back()[0] = static_cast<float>(values.size());
      arrays.push_back({name, ElementType::kF32, {width, 27}, values.back().data()});
    }
  }
  RunState(const RunState&) = delete;

  CheckpointTarget Target() const {
    return {.model = info.model, .model_options = info.model_options, .arrays = arrays};
  }

  CheckpointInfo info;
  std::vector<std::vector<float>> values;
  std::vector<NamedArray> arrays;
};

// The bytes of its arrays, concatenated.
inline std::string Content(std::span<const NamedArray> arrays) {
  std::string content;
  for (const auto& array : arrays) {
    content += array.name + ":";
    content.append(static_cast<const char*>(array.data), array.bytes());
  }
  return content;
}

}  // namespace recpack::train
