// Options of a training: data, model, devices, strategy, schedule and checkpoints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "recpack/example/field_map.h"
#include "recpack/kernels/finish.h"
#include "recpack/loader/array_spec.h"
#include "recpack/loader/loader.h"
#include "src/train/collectives/collective.h"
#include "src/train/layers/strategy.h"
#include "src/train/models/model.h"
#include "src/train/ops/device_spec.h"
#include "src/train/setup/step_timing.h"

namespace recpack::train {

struct OnnxNetwork;  // src/train/onnx/onnx_network.h

enum class StrategyKind : uint8_t {
  kReplicated,       // each device holds all variables; gradients are summed over the devices
  kParameterServer,  // variables are stored and updated in one place
  // Each device holds all variables, which are updated in a master copy, part by part per process.
  kDistributedReplicated,
  kAuto,  // one of these, by the size of the model and how the devices are connected
};

// Makes this process's member of a collective of all processes that train together.
using JoinProcesses = std::function<std::unique_ptr<Collective>()>;

// Where gradients of replicated variables are summed.
enum class SumPlace : uint8_t {
  kAuto,  // kGpus if possible, else kHost
  kGpus,  // by TrainerOptions::between_gpus, even for a single device
  kHost,  // in host memory
};

// Where a parameter server stores variables.
enum class VariablePlace : uint8_t {
  kCpu,          // in host memory
  kFirstDevice,  // in memory of the first device
  kSpread,       // distributed over the devices, about equally
};

// Largest height and width, in pixels, up to which networks begin with small strides and train in
// batches of 128: larger images take too much memory for that.
inline constexpr int64_t kSmallImage = 64;

// How an image model reads pictures. What is empty or 0 is chosen from the data: from the first
// record of the training split, and from the class names.
struct PictureOptions {
  std::string recipe = {};  // cifar10-train for rows of CIFAR, imagenet-train for encoded images
  std::string eval_recipe = {};  // the one that belongs to `recipe`
  int64_t size = 0;              // height and width; 0: that of the recipe
  int64_t classes = 0;
  int stem = 0;  // resnet and googlenet: 3 or 7; 0: 7 for images above kSmallImage
};

struct TrainerOptions {
  std::string data;              // as for Dataset::Open()
  std::string train_split = {};  // empty: train, or the only one
  std::string eval_split = {};   // empty: the first of test, eval and validation that exists
  FieldMap fields = {};          // as in DatasetOptions
  int64_t label_offset = 0;      // as in DatasetOptions
  PictureOptions pictures;       // for models of pictures: all but deepconn

  std::string model = "resnet";  // or another of ModelNames()
  // Only the chosen model's options are used. resnet's width 0: 64 with a stem of 7, otherwise 16.
  // vgg's and googlenet's width 0: 64; vgg's dense 0: 4096 for images above kSmallImage, otherwise
  // 512.
  ResnetOptions resnet{.width = 0};
  VggOptions vgg{.width = 0, .dense = 0};
  GooglenetOptions googlenet{.width = 0};
  AlexnetOptions alexnet;
  DeepconnOptions
      deepconn;  // vocabulary 0: the number of lines of vocabulary.txt beside the shards
  // deepconn: a file of word vectors (word_vector_file.h), which tokens begin with; empty: none.
  // Tokens that are not in it begin with values of the seed. Read by each process, and not when a
  // training is resumed.
  std::string word_vectors = {};
  // For evaluation: the network of an ONNX file, instead of a model by name; its sizes are those of
  // `resnet`.
  std::shared_ptr<const OnnxNetwork> onnx = {};
  ElementType type = ElementType::kF32;
  ImageLayout layout = ImageLayout::kNhwc;
  bool fused_norm = true;

  std::vector<DeviceSpec> devices = {DeviceSpec{}};  // of this process
  // For one of several processes: called before anything else, equally often in each. Empty: there
  // is one process. All processes have the same options, except devices, threads and paths.
  JoinProcesses join = {};
  // "one": each device has the whole model and samples of its own. Otherwise the devices share one
  // model, placed as PlaceOperations() describes.
  std::string place = "one";
  bool log_placement = false;   // reports each operation's devices, and what it reads from where
  bool soft_placement = false;  // replaces a missing device by a CPU device
  StrategyKind strategy = StrategyKind::kReplicated;
  // Sums gradients of replicated variables if each device, over all processes, has a GPU to itself:
  // NcclCollectives(). Empty: not available.
  GpuCollectives between_gpus = {};
  SumPlace sums = SumPlace::kAuto;
  VariablePlace variables = VariablePlace::kCpu;
  bool async = false;      // parameter server only: each device's gradient is an update of its own
  bool norm_sync = false;  // batch statistics over the samples of all devices
  int threads = 0;         // per CPU device; 0: an equal share of the processors
  bool bind_threads = false;
  int loader_threads = 1;
  OrderSpec order = {};     // of the training's loader
  uint32_t prefetch = 0;    // batches made ahead; 0: the loader's default
  CacheOptions cache = {};  // of the training's loader
  // For the training's loader, as in LoaderOptions. Evaluation always fails on a bad record.
  OnBadRecord on_bad_record = OnBadRecord::kFail;
  double max_bad_share = 0.001;  // of a process's records in an epoch
  // File with the first process's substitutions of bad records; rank R writes LEDGER.R. The loader
  // runs ahead, so the file may end with substitutions that were never trained on. Empty: none.
  std::string ledger = {};
  InputKind input = InputKind::kReal;

  uint32_t batch_size = 0;  // per device; 0: the model's default (docs/reference/training.md)
  uint64_t epochs = 3;
  // 0: unlimited. The learning rate schedule follows the epochs in either case
  int64_t max_steps = 0;
  // Number of epochs over which the learning rate goes down; 0: `epochs`. Not less than `epochs`,
  // since the rate is 0 after them. Resuming from a checkpoint with another schedule is refused
  // unless this is given.
  uint64_t schedule_epochs = 0;
  double warmup_epochs = 0.5;
  OptimizerOptions optimizer;
  bool learns = true;  // false: the learning rate is 0, whatever the optimizer and the schedule say
  uint64_t seed = 0;
  bool evaluate = true;  // after each epoch
  bool audits = true;    // after each epoch on real input: which samples were trained on

  // Captures a step once and replays it, as far as the host takes no part in it: one CUDA graph
  // (two with several devices) instead of some hundred launches. The result is bit-identical.
  bool cuda_graphs = true;
  // Computes weight gradients on a second GPU stream, beside the input gradients of earlier layers.
  // Needs a second workspace. The result is bit-identical.
  bool weights_beside = true;
  // Steps per read of the losses; at least 1. The host does not wait for a device within them, and
  // detects a NaN or infinite loss that much later. Results are bit-identical for all values.
  int64_t steps_per_dispatch = 1;

  // Times steps after the training, on further batches of the loader, with learning rate 0. With
  // `epochs` 0 only these run.
  StepTimingOptions timing;

  // Folder for checkpoints, written after each epoch and every `checkpoint_steps` steps; empty:
  // none.
  std::string checkpoints = {};
  int64_t checkpoint_steps = 0;  // 0: after epochs only
  size_t keep_checkpoints = 3;
  // A checkpoint, or a folder whose latest valid checkpoint is used: the training continues as if
  // it had not stopped. Seed, model and data must match these options; so must the learning rate's
  // schedule, unless `schedule_epochs` is given.
  std::string resume = {};
};

// Receives messages for the user: a checkpoint was written, resumed from or skipped.
using TrainerNotice = std::function<void(const std::string& text)>;

}  // namespace recpack::train
