// Options of a training: data, model, devices, strategy, schedule and checkpoints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "recpack/loader/loader.h"
#include "src/train/collectives/collective.h"
#include "src/train/models/model.h"
#include "src/train/ops/device_spec.h"
#include "src/train/ops/placement.h"
#include "src/train/ops/strategy.h"
#include "src/train/setup/step_timing.h"

namespace recpack::train {

enum class StrategyKind : uint8_t {
  kReplicated,       // every device has all variables; gradients are added up over the devices
  kParameterServer,  // variables are in one place and are updated there
  // Every device has all variables; they are updated in a copy of which each process has a part.
  kDistributedReplicated,
};

// Makes this process's part in a collective of all processes that train together.
using JoinProcesses = std::function<std::unique_ptr<Collective>()>;

// Where the gradients of replicated variables are summed.
enum class SumPlace : uint8_t {
  kAuto,  // kGpus where that can be, else kHost
  kGpus,  // by TrainerOptions::between_gpus, which is used by one device alone as well
  kHost,  // in the host's memory
};

// Where a parameter server keeps variables.
enum class VariablePlace : uint8_t {
  kCpu,          // in the host's memory
  kFirstDevice,  // in that of the first device
  kSpread,       // over the devices, about equally much on each
};

struct TrainerOptions {
  std::string data;  // as Dataset::Open() takes it
  std::string train_split = "train";
  std::string eval_split = {};  // empty: the first there is of test, eval, validation
  // Of pictures: resnet and alexnet.
  std::string recipe = "cifar10-train";
  std::string eval_recipe = "cifar10-eval";

  std::string model = "resnet";  // or "alexnet", "deepconn"
  ResnetOptions resnet;          // those of the model that is chosen count
  AlexnetOptions alexnet;
  DeepconnOptions
      deepconn;  // vocabulary 0: the number of lines of vocabulary.txt beside the shards
  ValueType type = ValueType::kF32;
  ImageLayout layout = ImageLayout::kNhwc;
  bool fused_norm = true;

  std::vector<DeviceSpec> devices = {DeviceSpec{}};  // of this process
  // Of one of several processes: called first of all, as often at each. Empty: there is one. All
  // have the same options but for devices, threads and paths.
  JoinProcesses join = {};
  // "one": each device has the whole model, with samples of its own. Else the devices have one
  // together: as PlaceOperations() takes it. Of deepconn.
  std::string place = "one";
  bool log_placement = false;   // tells where each operation is, and what it reads from where
  bool soft_placement = false;  // a device that is not there is replaced by one of the CPU
  StrategyKind strategy = StrategyKind::kReplicated;
  // What sums the gradients of replicated variables where each device, of all processes, has a GPU
  // to itself: NcclCollectives(). Empty: nothing can.
  GpuCollectives between_gpus = {};
  SumPlace sums = SumPlace::kAuto;
  VariablePlace variables = VariablePlace::kCpu;
  bool async = false;      // of a parameter server: each device's gradient is an update of its own
  bool norm_sync = false;  // batch statistics over all devices' samples
  int threads = 0;         // of each CPU device; 0: its share of what there is
  bool bind_threads = false;
  int loader_threads = 1;
  // Of the training's loader, as LoaderOptions has them; evaluation takes every record or fails.
  OnBadRecord on_bad_record = OnBadRecord::kFail;
  double max_bad_share = 0.001;  // of a process's records of an epoch
  // Substitutions of the first process; those of rank R are in LEDGER.R. The loader is ahead of the
  // training: at its end there may be some of records that would have come next. Empty: none.
  std::string ledger = {};
  InputKind input = InputKind::kReal;

  uint32_t batch_size = 0;  // of each device; 0: the model's (docs/training.md)
  uint64_t epochs = 3;
  int64_t max_steps = 0;  // 0: until the epochs are over; the rate goes by those all the same
  double warmup_epochs = 0.5;
  OptimizerOptions optimizer;
  uint64_t seed = 0;
  bool evaluate = true;  // after each epoch

  // A step is captured once and repeated, as far as the host has no part in it: one CUDA graph in
  // place of some hundred launches, or of several devices two. The same bits as without.
  bool cuda_graphs = true;
  // Gradients of weights are computed on a second stream of a GPU, beside those of the inputs of
  // the layers before. Takes a second workspace. The same bits as without.
  bool weights_beside = true;
  // Steps whose losses the host reads at once; at least 1. It does not wait for a device within
  // them, and hears of a loss that is not a number that much later. The same bits for all.
  int64_t steps_per_dispatch = 1;

  // Steps that are timed once the training has ended, on further batches of the loader and with
  // the learning rate 0. With `epochs` 0 there are no others.
  StepTimingOptions timing;

  // Folder that checkpoints are written to, after each epoch and every so many steps; empty: none.
  std::string checkpoints = {};
  int64_t checkpoint_steps = 0;  // 0: after epochs only
  size_t keep_checkpoints = 3;
  // A checkpoint, or a folder of them, whose latest whole one is taken: the training goes on behind
  // it as if it had not stopped. Its seed, model and data must be those of these options.
  std::string resume = {};
};

// Samples a step, of each device, where the options say 0.
uint32_t DefaultBatchSize(const std::string& model);

// A checkpoint was written, or taken up, or passed over: for the user.
using TrainerNotice = std::function<void(const std::string& text)>;

}  // namespace recpack::train
