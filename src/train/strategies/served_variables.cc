#include "src/train/strategies/served_variables.h"

#include <algorithm>
#include <exception>

#include "src/train/ops/memory_purpose.h"

namespace recpack::train {

void ServedVariables::Start(Ops& ops, Variables& variables) {
  ops_ = &ops;
  variables_ = &variables;
  server_->Start(variables, ops);
  down_ = ops.MakeExchangeStream(0);
  if (!down_) {
    sent_ = HostFloats(variables.trained_size(), "the gradients that are sent");
    return;
  }
  staging_ = down_->HostMemory(variables.trained_size() * sizeof(float));
  // One bucket per variable.
  queue_.emplace(ops, variables, 1, [this](size_t bucket) { PushFromDevice(bucket); });
}

void ServedVariables::BeginStep(const UpdateStep& step) {
  update_ = step;
  if (queue_) queue_->BeginStep();
}

void ServedVariables::Pull(size_t variable, uint64_t updates) {
  account_.waited +=
      server_->Pull(variable, updates, down_ != nullptr,
                    [&](const float* host, const float* there) { Take(variable, host, there); });
  if (down_) down_->Join();
  Count(variable);
}

// The device has finished reading the variable's old value: its gradient was sent since then.
void ServedVariables::Take(size_t variable, const float* host, const float* there) {
  float* const to = variables_->At(variable);
  if (!down_) return ops_->Upload(to, host, Bytes(variable));
  if (there != nullptr) {
    down_->Copy(to, there, Bytes(variable));
    if (server_->options().async) down_->Wait();
    return;
  }
  float* const staged = static_cast<float*>(staging_.get()) + variables_->offset(variable);
  std::copy_n(host, variables_->size(variable), staged);
  down_->Upload(to, staged, Bytes(variable));
}

void ServedVariables::Ready(size_t variable) {
  Count(variable);
  if (queue_) return queue_->Ready(variable);
  account_.waited += PushFromHost(variable);
}

double ServedVariables::PushFromHost(size_t variable) {
  return server_->Push(device_, variable, update_, [&](float*) {
    float* const to = sent_.data() + variables_->offset(variable);
    ops_->Download(to, variables_->Gradient(variable), Bytes(variable));
    return to;
  });
}

// On failure: this device may be waiting for what this thread was to send.
void ServedVariables::PushFromDevice(size_t bucket) {
  ExchangedGradients& gradients = queue_->gradients();
  try {
    const size_t variable = gradients.buckets()[bucket].variables[0];
    server_->Push(device_, variable, update_, [&](float* there) -> float* {
      if (there == nullptr) return gradients.Fetch(bucket).data();
      gradients.CopyTo(bucket, there, variables_->size(variable));
      return nullptr;
    });
  } catch (const std::exception& error) {
    server_->Abort(error.what());
    throw;
  }
}

void ServedVariables::EndStep() {
  if (queue_) account_.waited += queue_->EndStep();
  ++step_;
}

void ServedVariables::VariablesSet() {
  for (size_t i = 0; i < variables_->specs().size(); ++i) {
    if (!variables_->specs()[i].trained) continue;
    server_->SetValue(i, [&](float* to) { ops_->Download(to, variables_->At(i), Bytes(i)); });
  }
}

void ServedVariables::Settle() {
  const uint64_t updates = server_->options().async ? ParameterServer::kAllSent : step_;
  for (size_t i = 0; i < variables_->specs().size(); ++i) {
    if (variables_->specs()[i].trained) Pull(i, updates);
  }
  if (down_) down_->Wait();
  if (device_ == 0) server_->GatherSlots();
}

}  // namespace recpack::train
