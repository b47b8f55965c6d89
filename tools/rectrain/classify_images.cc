#include "tools/rectrain/classify_images.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/loader/dataset.h"
#include "src/base/format.h"
#include "tools/rectrain/picture.h"

namespace recpack::tool {
namespace {

// Names from the user's file, one per line, or from the data set; empty if there are none.
std::vector<std::string> ClassNames(const ClassifyOptions& options) {
  if (options.names.empty()) {
    if (options.data.empty()) return {};
    return Dataset::Open(options.data, {.split = options.split}).class_names();
  }
  const ByteBuffer text = ReadWholeFile(PosixFiles(), options.names);
  std::vector<std::string> names = {""};
  for (const uint8_t byte : text) {
    if (byte == '\n') {
      names.emplace_back();
    } else if (byte != '\r') {
      names.back() += static_cast<char>(byte);
    }
  }
  if (names.back().empty()) names.pop_back();
  return names;
}

}  // namespace

Json CheckpointJson(const train::Evaluator& evaluator) {
  const train::CheckpointInfo& info = evaluator.checkpoint();
  return {{"path", evaluator.path()}, {"model", info.model}, {"step", info.step}};
}

void ClassifyImages(const ClassifyOptions& options, train::Evaluator& evaluator) {
  const std::vector<std::string> names = ClassNames(options);
  Json all = Json::array();
  for (const std::string& path : options.images) {
    const Image picture = ReadPicture(path, evaluator.image_size());
    const auto shares = evaluator.Classify(picture.pixels.data());
    if (!names.empty() && names.size() != shares.size()) {
      throw Error(
          ErrorKind::kInvalidArgument,
          format("there are {} names, but the network has {} classes", names.size(), shares.size()),
          {.path = options.names.empty() ? options.data : options.names},
          "give one per line, or leave them out");
    }
    std::vector<size_t> order(shares.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return shares[a] > shares[b]; });
    order.resize(std::min(order.size(), options.top));
    std::string line = path + ":";
    Json classes = Json::array();
    for (const size_t c : order) {
      const std::string name = names.empty() ? format("class {}", c) : names[c];
      line += format("{} {} {}", c == order[0] ? "" : ",", name, Percent(shares[c], 2));
      classes.push_back({{"class", c}, {"probability", shares[c]}});
      if (!names.empty()) classes.back()["name"] = name;
    }
    if (!options.json) std::printf("%s\n", line.c_str());
    all.push_back({{"image", path}, {"classes", classes}});
  }
  if (!options.json) return;
  const Json json = {{"checkpoint", CheckpointJson(evaluator)}, {"images", all}};
  PrintJson(json);
}

}  // namespace recpack::tool
