// One training step's loss and gradients by this library, for PyTorch's to be compared with.
//
//   gradients IN OUT [train|evaluate [cpu|cuda]]     both safetensors
//
// evaluate: `result` alone, without a step before it. cuda: on the first GPU, f32 not rounded to
// TF32.
//
// IN: the batch's arrays by their names (pictures in the layout), each variable as
// `variable/NAME`, and as metadata `model` (resnet, vgg, googlenet,
// alexnet, deepconn), `layout` (nhwc, nchw),
// `norm` (fused, unfused) and the model's options. OUT: `loss` (mean), `gradient/NAME`,
// `statistic/NAME` behind the step, and `result`: logits or predictions in evaluation, after it.
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "recpack/base/error.h"
#include "src/train/checkpoint/safetensors.h"
#include "src/train/cpu/cpu_ops.h"
#include "src/train/cuda/cuda_ops.h"
#include "src/train/models/model.h"

namespace recpack {
namespace {

class Given {
 public:
  explicit Given(const std::string& path) : loaded_(train::ReadSafetensors(PosixFiles(), path)) {}

  const train::NamedArray& Array(const std::string& name) const {
    const train::NamedArray* array = loaded_.Find(name);
    if (!array) throw Error(ErrorKind::kNotFound, "there is no array " + name);
    return *array;
  }
  const std::string& Text(const std::string& key) const {
    const auto found = loaded_.metadata.find(key);
    if (found == loaded_.metadata.end()) throw Error(ErrorKind::kNotFound, "no metadata " + key);
    return found->second;
  }
  int64_t Number(const std::string& key) const { return std::atoll(Text(key).c_str()); }

 private:
  train::LoadedArrays loaded_;
};

// Its arrays in the device's memory.
class GivenBatch final : public train::BatchArrays {
 public:
  GivenBatch(const Given& given, train::Ops& ops) : given_(given), ops_(ops) {}

  const void* Raw(const std::string& name) const override {
    const train::NamedArray& array = given_.Array(name);
    train::DeviceArray& there = there_[name];
    if (there.data() == nullptr) {
      there = ops_.Allocate(array.bytes());
      ops_.Upload(there.data(), array.data, array.bytes());
    }
    return there.data();
  }

 private:
  const Given& given_;
  train::Ops& ops_;
  mutable std::map<std::string, train::DeviceArray> there_;
};

std::unique_ptr<train::Model> MakeGivenModel(const Given& given, train::Ops& ops) {
  const std::string& name = given.Text("model");
  const train::ModelContext context{
      .ops = &ops,
      .batch = given.Array(name == "deepconn" ? "rating" : "label").shape[0],
      .layout = given.Text("layout") == "nchw" ? ImageLayout::kNchw : ImageLayout::kNhwc,
      .fused_norm = given.Text("norm") == "fused"};
  if (name == "resnet") {
    return train::MakeResnet(context, {.depth = static_cast<int>(given.Number("depth")),
                                       .width = given.Number("width"),
                                       .image = given.Number("image"),
                                       .stem = static_cast<int>(given.Number("stem"))});
  }
  if (name == "alexnet") {
    return train::MakeAlexnet(context,
                              {.filters = given.Number("filters"), .dense = given.Number("dense")});
  }
  if (name == "vgg") {
    return train::MakeVgg(context, {.depth = static_cast<int>(given.Number("depth")),
                                    .width = given.Number("width"),
                                    .dense = given.Number("dense"),
                                    .classes = given.Number("classes"),
                                    .image = given.Number("image")});
  }
  if (name == "googlenet") {
    return train::MakeGooglenet(context, {.width = given.Number("width"),
                                          .classes = given.Number("classes"),
                                          .image = given.Number("image"),
                                          .stem = static_cast<int>(given.Number("stem"))});
  }
  return train::MakeDeepconn(
      context, {.vocabulary = given.Number("vocabulary"),
                .max_tokens = given.Number("max_tokens"),
                .dims = given.Number("dims"),
                .filters = given.Number("filters"),
                .kernel = static_cast<int>(given.Number("kernel")),
                .latent = given.Number("latent"),
                .factors = given.Number("factors"),
                .tables = given.Text("embedding") == "shared" ? train::WordTables::kShared
                                                              : train::WordTables::kSeparate,
                .pool_window = static_cast<int>(given.Number("pool_window"))});
}

// Downloaded arrays, to be written.
class Results {
 public:
  void Add(const std::string& name, const train::Shape& shape, std::vector<float> values) {
    values_.push_back(std::move(values));
    arrays_.push_back({name, ElementType::kF32, shape, values_.back().data()});
  }
  void Add(train::Ops& ops, const std::string& name, const train::Shape& shape, const void* from) {
    std::vector<float> values(static_cast<size_t>(train::Elements(shape)));
    ops.Download(values.data(), from, values.size() * sizeof(float));
    Add(name, shape, std::move(values));
  }
  void Write(const std::string& path) const {
    train::WriteSafetensors(PosixFiles(), path, arrays_, {}, false);
  }

 private:
  std::deque<std::vector<float>> values_;
  std::vector<train::NamedArray> arrays_;
};

void Step(const train::BatchArrays& batch, train::Ops& ops, train::Model& model,
          train::LossSums* sums, Results& results) {
  const auto samples = static_cast<float>(model.context().batch);
  model.Forward(batch, nullptr, true, 1 / samples, sums);
  train::LossSums of_batch;
  ops.Download(&of_batch, sums, sizeof of_batch);
  const float loss = of_batch.loss / samples;
  results.Add("loss", {}, {loss});
  model.Backward(batch, [](size_t) {});
  ops.Rejoin();
  const train::Variables& variables = model.variables();
  for (size_t i = 0; i < variables.specs().size(); ++i) {
    const train::VariableSpec& spec = variables.specs()[i];
    results.Add(ops, (spec.trained ? "gradient/" : "statistic/") + spec.name, spec.shape,
                spec.trained ? variables.Gradient(i) : variables.At(i));
  }
}

void Run(const Given& given, const std::string& out, bool train, bool cuda) {
  const auto ops = cuda ? train::MakeCudaOps({.tf32 = false}) : train::MakeCpuOps({.threads = 2});
  ops->Attach();
  const auto model = MakeGivenModel(given, *ops);
  model->Build(0, 0);
  const train::Variables& variables = model->variables();
  for (size_t i = 0; i < variables.specs().size(); ++i) {
    const train::VariableSpec& spec = variables.specs()[i];
    const train::NamedArray& array = given.Array("variable/" + spec.name);
    if (array.shape != spec.shape) {
      throw Error(ErrorKind::kInvalidArgument, spec.name + " is " + train::ShapeText(spec.shape));
    }
    ops->Upload(variables.At(i), array.data, array.bytes());
  }
  const train::DeviceArray sums = ops->Allocate(sizeof(train::LossSums));
  const GivenBatch batch(given, *ops);
  Results results;
  if (train) Step(batch, *ops, *model, sums.As<train::LossSums>(), results);
  model->Forward(batch, nullptr, false, 0, sums.As<train::LossSums>());
  const train::Tensor result = model->Activity().back().value;
  results.Add(*ops, "result", result.shape, result.data);
  results.Write(out);
}

}  // namespace
}  // namespace recpack

int main(int count, char** words) {
  const auto word = [&](int at, const char* otherwise) {
    return std::string(count > at ? words[at] : otherwise);
  };
  const std::string what = word(3, "train"), device = word(4, "cpu");
  if (count < 3 || count > 5 || (what != "train" && what != "evaluate") ||
      (device != "cpu" && device != "cuda")) {
    std::fprintf(stderr, "usage: gradients IN OUT [train|evaluate [cpu|cuda]]\n");
    return 2;
  }
  try {
    recpack::Run(recpack::Given(words[1]), words[2], what == "train", device == "cuda");
    return 0;
  } catch (const recpack::Error& error) {
    std::fprintf(stderr, "gradients: %s\n", error.what());
    return 1;
  }
}
