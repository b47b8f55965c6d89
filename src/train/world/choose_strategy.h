// Chooses a strategy by the size of the model and by how its devices are connected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "src/train/ops/gpu_link.h"
#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// The devices of a training.
struct TrainingTopology {
  size_t processes = 1;
  size_t devices = 1;  // of all processes
  size_t gpus = 0;     // of them, if there is one process; logical devices of a GPU count each
  // The slowest link between two GPUs, if there is one process.
  GpuLink link = GpuLink::kSame;
  // Gradients of all processes can be summed by TrainerOptions::between_gpus.
  bool gpu_sums = false;
};

// Numbers of trained variables [elements].
struct ModelSize {
  uint64_t all = 0;
  // In dense layers and embeddings, which use a value once per sample or less: these cost more to
  // exchange than to compute.
  uint64_t dense = 0;

  // The bound lies above the ResNets and Inception v3 with 1000 classes (2 million), and below
  // AlexNet and VGG (58 million and more).
  bool many() const noexcept { return dense >= (uint64_t{1} << 22); }
};

struct ChosenStrategy {
  StrategyKind strategy = StrategyKind::kReplicated;
  VariablePlace variables = VariablePlace::kCpu;  // for a parameter server
  std::string why;
};

// GPUs of one process follow the recommendations of TensorFlow's performance guide: many variables
// on the GPUs, with NCCL; otherwise spread over GPUs that reach each other, or else on the CPU.
// Unlike the guide, which precedes NVLink, GPUs that it connects always use NCCL.
ChosenStrategy ChooseStrategy(const TrainingTopology& topology, const ModelSize& size);

// "parameter_server, variables spread, for 24.1 million variables (23.8 million in dense layers and
// embeddings) on 4 devices: GPUs reach each other over PCI Express".
std::string StrategyText(const ChosenStrategy& chosen, const TrainingTopology& topology,
                         const ModelSize& size);

}  // namespace recpack::train
