// One training step's loss and gradients by this library, for PyTorch's to be compared with.
//
//   gradients IN OUT              both safetensors
//   gradients IN OUT evaluate     `result` alone, without a step before it
//
// IN: the batch's arrays by their names (pictures in the layout), each variable as
// `variable/NAME`, and as metadata `model` (resnet, alexnet, deepconn), `layout` (nhwc, nchw),
// `norm` (fused, unfused) and the model's options. OUT: `loss` (mean), `gradient/NAME`,
// `statistic/NAME` behind the step, and `result`: logits or predictions in evaluation, after it.
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/train/cpu_ops.h"
#include "recpack/train/model.h"
#include "recpack/train/safetensors.h"

namespace recpack {
namespace {

class Given final : public BatchArrays {
 public:
  explicit Given(const std::string& path) : loaded_(ReadSafetensors(PosixFiles(), path)) {}

  const NamedArray& Array(const std::string& name) const {
    const NamedArray* array = loaded_.Find(name);
    if (!array) throw Error(ErrorKind::kNotFound, "there is no array " + name);
    return *array;
  }
  const void* Raw(const std::string& name) const override { return Array(name).data; }
  const std::string& Text(const std::string& key) const {
    const auto found = loaded_.metadata.find(key);
    if (found == loaded_.metadata.end()) throw Error(ErrorKind::kNotFound, "no metadata " + key);
    return found->second;
  }
  int64_t Number(const std::string& key) const { return std::atoll(Text(key).c_str()); }

 private:
  LoadedArrays loaded_;
};

std::unique_ptr<Model> MakeModel(const Given& given, Ops& ops) {
  const std::string& name = given.Text("model");
  const ModelContext context{
      .ops = &ops,
      .batch = given.Array(name == "deepconn" ? "rating" : "label").shape[0],
      .layout = given.Text("layout") == "nchw" ? ImageLayout::kNchw : ImageLayout::kNhwc,
      .fused_norm = given.Text("norm") == "fused"};
  if (name == "resnet") return MakeResnet(context, {.width = given.Number("width")});
  if (name == "alexnet") {
    return MakeAlexnet(context,
                       {.filters = given.Number("filters"), .dense = given.Number("dense")});
  }
  return MakeDeepconn(context, {.vocabulary = given.Number("vocabulary"),
                                .max_tokens = given.Number("max_tokens"),
                                .dims = given.Number("dims"),
                                .filters = given.Number("filters"),
                                .kernel = static_cast<int>(given.Number("kernel")),
                                .latent = given.Number("latent"),
                                .factors = given.Number("factors")});
}

// Downloaded arrays, to be written.
class Results {
 public:
  void Add(Ops& ops, const std::string& name, const Shape& shape, const void* from) {
    values_.emplace_back(static_cast<size_t>(Elements(shape)));
    ops.Download(values_.back().data(), from, values_.back().size() * sizeof(float));
    arrays_.push_back({name, ValueType::kF32, shape, values_.back().data()});
  }
  void Write(const std::string& path) const {
    WriteSafetensors(PosixFiles(), path, arrays_, {}, false);
  }

 private:
  std::deque<std::vector<float>> values_;
  std::vector<NamedArray> arrays_;
};

void Step(const Given& given, Ops& ops, Model& model, LossSums* sums, Results& results) {
  const auto batch = static_cast<float>(model.context().batch);
  model.Forward(given, nullptr, true, 1 / batch, sums);
  const float loss = sums->loss / batch;
  results.Add(ops, "loss", {}, &loss);
  model.Backward(given, [](size_t) {});
  const Variables& variables = model.variables();
  for (size_t i = 0; i < variables.specs().size(); ++i) {
    const VariableSpec& spec = variables.specs()[i];
    results.Add(ops, (spec.trained ? "gradient/" : "statistic/") + spec.name, spec.shape,
                spec.trained ? variables.Gradient(i) : variables.At(i));
  }
}

void Run(const Given& given, const std::string& out, bool train) {
  const auto ops = MakeCpuOps({.threads = 2});
  ops->Attach();
  const auto model = MakeModel(given, *ops);
  model->Build(0, 0);
  const Variables& variables = model->variables();
  for (size_t i = 0; i < variables.specs().size(); ++i) {
    const VariableSpec& spec = variables.specs()[i];
    const NamedArray& array = given.Array("variable/" + spec.name);
    if (array.shape != spec.shape) {
      throw Error(ErrorKind::kInvalidArgument, spec.name + " is " + ShapeText(spec.shape));
    }
    ops->Upload(variables.At(i), array.data, array.bytes());
  }
  const DeviceArray sums = ops->Allocate(sizeof(LossSums));
  Results results;
  if (train) Step(given, *ops, *model, sums.As<LossSums>(), results);
  model->Forward(given, nullptr, false, 0, sums.As<LossSums>());
  const Tensor result = model->Activity().back().value;
  results.Add(*ops, "result", result.shape, result.data);
  results.Write(out);
}

}  // namespace
}  // namespace recpack

int main(int count, char** words) {
  const bool evaluate = count == 4 && std::string(words[3]) == "evaluate";
  if (count != 3 && !evaluate) {
    std::fprintf(stderr, "usage: gradients IN OUT [evaluate]\n");
    return 2;
  }
  try {
    recpack::Run(recpack::Given(words[1]), words[2], !evaluate);
    return 0;
  } catch (const recpack::Error& error) {
    std::fprintf(stderr, "gradients: %s\n", error.what());
    return 1;
  }
}
