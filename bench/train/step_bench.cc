// A training step of the ResNet on one CPU device, without input: one batch that stays. Prints a
// line of JSON.
//
//   step_bench [--batch N] [--width N] [--type f32|bf16] [--layout nhwc|nchw] [--threads N]
//              [--steps N] [--unfused] [--profile]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "recpack/base/random.h"
#include "recpack/train/cpu_ops.h"
#include "recpack/train/model.h"

namespace recpack {
namespace {

using Clock = std::chrono::steady_clock;

struct Flags {
  int64_t batch = 128, width = 16;
  ValueType type = ValueType::kF32;
  ImageLayout layout = ImageLayout::kNhwc;
  int threads = 0, steps = 20;
  bool fused = true;
};

Flags Parse(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--unfused") {
      flags.fused = false;
      continue;
    }
    if (i + 1 == argc) std::exit(2);
    const std::string value = argv[++i];
    if (name == "--batch") flags.batch = std::stoll(value);
    if (name == "--width") flags.width = std::stoll(value);
    if (name == "--threads") flags.threads = std::stoi(value);
    if (name == "--steps") flags.steps = std::stoi(value);
    if (name == "--type" && value == "bf16") flags.type = ValueType::kBf16;
    if (name == "--layout" && value == "nchw") flags.layout = ImageLayout::kNchw;
  }
  return flags;
}

class ResidentBatch final : public BatchArrays {
 public:
  ResidentBatch(Ops& ops, const Flags& flags) {
    const Shape shape = {flags.batch, 3, 32, 32};
    std::vector<float> pixels(static_cast<size_t>(Elements(shape)));
    std::vector<int64_t> labels(static_cast<size_t>(flags.batch));
    KeyedRandom random(0, 1, 2);
    for (float& pixel : pixels) pixel = 2 * random.NextUnit() - 1;
    for (int64_t& label : labels) label = random.NextBelow(10);
    DeviceArray plain = ops.Allocate(pixels.size() * sizeof(float));
    ops.Upload(plain.data(), pixels.data(), pixels.size() * sizeof(float));
    Tensor image{nullptr, flags.type, shape, flags.layout};
    image_ = ops.Allocate(image.bytes());
    image.data = image_.data();
    ops.Convert({plain.data(), ValueType::kF32, shape, flags.layout}, image);
    labels_ = ops.Allocate(labels.size() * sizeof(int64_t));
    ops.Upload(labels_.data(), labels.data(), labels.size() * sizeof(int64_t));
    ops.Synchronise();
  }
  const void* Raw(const std::string& name) const override {
    return name == "image" ? image_.data() : labels_.data();
  }

 private:
  DeviceArray image_, labels_;
};

void Run(const Flags& flags) {
  const auto ops = MakeCpuOps({.threads = flags.threads});
  ops->Attach();
  const auto model = MakeResnet({.ops = ops.get(),
                                 .batch = flags.batch,
                                 .type = flags.type,
                                 .layout = flags.layout,
                                 .fused_norm = flags.fused},
                                {.width = flags.width});
  model->Build(1, 0);
  const ResidentBatch batch(*ops, flags);
  const DeviceArray sums = ops->Allocate(sizeof(LossSums));
  Variables& variables = model->variables();
  LossSums loss;
  std::vector<double> forward, backward, update;
  for (int step = -3; step < flags.steps; ++step) {
    const auto begin = Clock::now();
    model->Forward(batch, nullptr, true, 1.0F / static_cast<float>(flags.batch),
                   sums.As<LossSums>());
    ops->Synchronise();
    const auto middle = Clock::now();
    model->Backward(batch, [](size_t) {});
    ops->Synchronise();
    const auto last = Clock::now();
    ops->Sgd({.rate = 0.01F, .momentum = 0.9F, .decay = 5e-4F}, variables.trained(),
             variables.gradients(), variables.Slot(0, 0), variables.trained_size());
    ops->Download(&loss, sums.data(), sizeof loss);
    const auto end = Clock::now();
    if (step < 0) continue;
    using Seconds = std::chrono::duration<double>;
    forward.push_back(Seconds(middle - begin).count());
    backward.push_back(Seconds(last - middle).count());
    update.push_back(Seconds(end - last).count());
  }
  const auto median = [](std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
  };
  const double f = median(forward), b = median(backward), u = median(update);
  std::printf(
      "{\"samples_per_s\": %.1f, \"forward_ms\": %.2f, \"backward_ms\": %.2f, \"update_ms\": %.2f, "
      "\"loss\": %.4f}\n",
      static_cast<double>(flags.batch) / (f + b + u), f * 1e3, b * 1e3, u * 1e3,
      static_cast<double>(loss.loss) / static_cast<double>(flags.batch));
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) { recpack::Run(recpack::Parse(argc, argv)); }
