// A small network on a device with a fixed batch, and properties that every network must have.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/train/models/model.h"
#include "tests/train/directional.h"
#include "tests/train/on_device.h"

namespace recpack::train {

class SmallNetwork : private BatchArrays {
 public:
  explicit SmallNetwork(std::unique_ptr<Ops> ops)
      : ops_(std::move(ops)), device_(*ops_), sums_(device_.Raw(std::vector<LossSums>(1))) {
    ops_->Attach();
  }

  // Arrays of the batch, then the model, on ops().
  void Give(const std::string& name, const void* array) { arrays_[name] = array; }
  void Build(std::unique_ptr<Model> model) {
    model_ = std::move(model);
    model_->Build(1, 7);
  }

  double Loss(bool training = true) { return Sums(training).loss; }
  LossSums Sums(bool training = true) {
    model_->Forward(*this, nullptr, training, 1, sums_);
    LossSums sums;
    ops_->Download(&sums, sums_, sizeof sums);
    return sums;
  }
  std::vector<size_t> Backward() {
    std::vector<size_t> order;
    model_->Backward(*this, [&](size_t variable) { order.push_back(variable); });
    return order;
  }
  void Step(float rate) {
    Loss();
    Backward();
    ops_->Sgd({.rate = rate, .momentum = 0.9F}, variables().trained(), variables().gradients(),
              variables().Slot(0, 0), variables().trained_size());
  }
  std::vector<float> Gradient(size_t variable) {
    return device_.Floats(variables().Gradient(variable), variables().size(variable));
  }
  std::vector<float> Value(size_t variable) {
    return device_.Floats(variables().At(variable), variables().size(variable));
  }
  void Set(size_t variable, const std::vector<float>& values) {
    ops_->Upload(variables().At(variable), values.data(), values.size() * sizeof(float));
  }
  Variables& variables() { return model_->variables(); }
  Model& model() { return *model_; }
  Ops& ops() { return *ops_; }
  OnDevice& device() { return device_; }

 private:
  const void* Raw(const std::string& name) const override { return arrays_.at(name); }

  std::unique_ptr<Ops> ops_;
  OnDevice device_;
  std::map<std::string, const void*> arrays_;
  LossSums* sums_;
  std::unique_ptr<Model> model_;
};

// By finite differences, each variable separately, from the one called `first` on. `leave_out`: is
// given a variable's name.
inline void ExpectGradientsOfTheLoss(
    SmallNetwork& network, float step, double tolerance, const std::string& first = "",
    const std::function<bool(const std::string&)>& leave_out = nullptr) {
  network.Loss();
  network.Backward();
  bool reached = first.empty();
  for (size_t i = 0; i < network.variables().specs().size(); ++i) {
    reached |= network.variables().specs()[i].name == first;
    if (!reached || !network.variables().specs()[i].trained) continue;
    if (leave_out && leave_out(network.variables().specs()[i].name)) continue;
    SCOPED_TRACE(network.variables().specs()[i].name);
    const auto gradient = network.Gradient(i), before = network.Value(i);
    const auto loss = [&](const std::vector<float>& at) {
      network.Set(i, at);
      return network.Loss();
    };
    ExpectGradient(loss, before, gradient, step, tolerance);
    network.Set(i, before);
  }
  EXPECT_TRUE(reached) << "no variable " << first;
}

// Names in the order in which their gradients were completed.
inline std::vector<std::string> ExpectEachVariableOnce(SmallNetwork& network) {
  network.Loss();
  auto order = network.Backward();
  const auto& specs = network.variables().specs();
  std::vector<std::string> names;
  for (const size_t variable : order) names.push_back(specs[variable].name);
  std::vector<size_t> trained;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].trained) trained.push_back(i);
  }
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, trained);
  return names;
}

}  // namespace recpack::train
