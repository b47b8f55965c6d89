// A training step on one CPU device, without input: one batch that stays.
//
//   step_bench step    [--steps N] [--width N] [--dtype f32|bf16] [--data-format nhwc|nchw]
//                      [--norm fused|unfused]       of the ResNet
//   step_bench product [--steps N] [--width N] [--dtype f32|bf16]
//                      a product of square matrices with as many operations as its convolutions
//   both: [--batch N] [--threads N] [--bind 1] [--rounds N] [--serve 1]
//         bind: a processor for each thread
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/record/timing.h"
#include "bench/train/check_loss.h"
#include "recpack/base/cpu.h"
#include "recpack/base/random.h"
#include "src/train/cpu/cpu_ops.h"
#include "src/train/models/model.h"

namespace recpack::train {
namespace {

using bench::Flags;

ElementType TypeOf(const Flags& flags) {
  return flags.Text("--dtype", "f32") == "bf16" ? ElementType::kBf16 : ElementType::kF32;
}
// Prints as the peers' scripts do.
void Report(const std::string& job, const Flags& flags, const std::function<bench::Pass()>& pass) {
  const int threads = flags.Number("--threads", "2");
  if (flags.Number("--serve", "0") != 0) {
    bench::Serve(
        job + ", " + std::to_string(threads) + " threads", [] {}, pass);
  } else {
    bench::Measure(job, threads, flags.Number("--rounds", "5"), pass);
  }
}

class ResidentBatch final : public BatchArrays {
 public:
  ResidentBatch(Ops& ops, int64_t batch, ElementType type, ImageLayout layout) {
    const Shape shape = {batch, 3, 32, 32};
    std::vector<float> pixels(static_cast<size_t>(Elements(shape)));
    std::vector<int64_t> labels(static_cast<size_t>(batch));
    KeyedRandom random(0, 1, 2);
    for (float& pixel : pixels) pixel = 2 * random.NextUnit() - 1;
    for (int64_t& label : labels) label = random.NextBelow(10);
    const DeviceArray plain = ops.Allocate(pixels.size() * sizeof(float));
    ops.Upload(plain.data(), pixels.data(), pixels.size() * sizeof(float));
    Tensor image{nullptr, type, shape, layout};
    image_ = ops.Allocate(image.bytes());
    image.data = image_.data();
    ops.Convert({plain.data(), ElementType::kF32, shape, layout}, image);
    labels_ = ops.Allocate(labels.size() * sizeof(int64_t));
    ops.Upload(labels_.data(), labels.data(), labels.size() * sizeof(int64_t));
  }
  const void* Raw(const std::string& name) const override {
    return name == "image" ? image_.data() : labels_.data();
  }

 private:
  DeviceArray image_, labels_;
};

void Step(Ops& ops, const Flags& flags) {
  const int64_t batch = flags.Number("--batch", "128");
  const int steps = flags.Number("--steps", "15");
  const auto layout =
      flags.Text("--data-format", "nhwc") == "nchw" ? ImageLayout::kNchw : ImageLayout::kNhwc;
  const auto model = MakeResnet({.ops = &ops,
                                 .batch = batch,
                                 .type = TypeOf(flags),
                                 .layout = layout,
                                 .fused_norm = flags.Text("--norm", "fused") == "fused"},
                                {.width = flags.Number("--width", "16")});
  model->Build(1, 0);
  const ResidentBatch resident(ops, batch, TypeOf(flags), layout);
  const DeviceArray sums = ops.Allocate(sizeof(LossSums));
  Variables& variables = model->variables();
  Report("step", flags, [&] {
    for (int i = 0; i < steps; ++i) {
      model->Forward(resident, nullptr, true, 1.0F / static_cast<float>(batch),
                     sums.As<LossSums>());
      model->Backward(resident, [](size_t) {});
      ops.Sgd({.rate = 0.01F, .momentum = 0.9F, .decay = 5e-4F}, variables.trained(),
              variables.gradients(), variables.Slot(0, 0), variables.trained_size());
    }
    bench::CheckLoss(ops, sums);
    return bench::Pass{static_cast<uint64_t>(steps * batch), 0};
  });
}

// Operations of the convolutions, for a picture of 32 x 32 and first stage of `width` channels:
// forward, and twice back.
double StepOperations(double width) {
  double products = 3 * width * 9 * 1024 + 4 * width * width * 9 * 1024;
  double channels = width, pixels = 1024;
  for (int stage = 1; stage < 4; ++stage) {
    const double wider = 2 * channels;
    pixels /= 4;
    products += (channels * wider + 3 * wider * wider) * 9 * pixels + channels * wider * pixels;
    channels = wider;
  }
  return 3 * 2 * products;
}

void Product(Ops& ops, const Flags& flags) {
  constexpr int64_t kSide = 2048;
  const DenseSpec spec{.batch = kSide, .in = kSide, .out = kSide, .type = TypeOf(flags)};
  const auto operation = ops.MakeDense(spec);
  const auto count = static_cast<size_t>(kSide * kSide);
  const DeviceArray x = ops.Allocate(count * sizeof(float));
  const DeviceArray y = ops.Allocate(count * sizeof(float));
  const DeviceArray weights = ops.Allocate(count * sizeof(float));
  const DeviceArray bias = ops.Allocate(kSide * sizeof(float));
  operation->SetWeights(weights.As<float>(), bias.As<float>());
  const double a_product = 2.0 * kSide * kSide * kSide;
  const double a_sample = StepOperations(flags.Number("--width", "16"));
  const int samples = flags.Number("--batch", "128") * flags.Number("--steps", "15");
  const int products = std::max(1, static_cast<int>(samples * a_sample / a_product));
  Report("product", flags, [&] {
    for (int i = 0; i < products; ++i) operation->Forward(x.data(), y.data());
    ops.Synchronise();
    return bench::Pass{static_cast<uint64_t>(products * a_product / a_sample), 0};
  });
}

}  // namespace
}  // namespace recpack::train

int main(int argc, char** argv) {
  using namespace recpack::train;
  using recpack::bench::Flags;
  const std::string job = argc > 1 ? argv[1] : "";
  if (job != "step" && job != "product") {
    std::fprintf(stderr, "usage: step_bench step|product [FLAGS]\n");
    return 2;
  }
  const Flags flags(argc, argv);
  CpuOptions options{.threads = flags.Number("--threads", "2")};
  for (int i = 0; flags.Number("--bind", "0") != 0 && i < options.threads; ++i) {
    options.processors.push_back(i % recpack::AvailableThreads());
  }
  const auto ops = MakeCpuOps(options);
  ops->Attach();
  job == "step" ? Step(*ops, flags) : Product(*ops, flags);
}
