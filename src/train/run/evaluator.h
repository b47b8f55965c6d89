// A trained network at work: its score on a split, the classes of a picture, and what 8-bit
// integers make of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/train/checkpoint/checkpoint.h"
#include "src/train/run/trainer.h"

namespace recpack::train {

struct EvaluatorOptions {
  std::string checkpoint;            // a file, or a folder of them: its latest whole one
  ValueType type = ValueType::kF32;  // of activations, or kBf16
  uint32_t batch_size = 128;
  DeviceSpec device = {};  // of the CPU or a GPU
  int threads = 0;         // of a CPU device; 0: all there are
  int loader_threads = 1;
  std::string recipe = "cifar10-eval";  // of pictures
};

struct EvaluationSplit {
  std::string data;        // as Dataset::Open() takes it
  std::string split = {};  // empty: the first there is of test, eval, validation
};

struct Evaluation {
  Score score;
  double samples_per_second = 0;  // of the network alone: a batch over its median time
  double seconds = 0;             // for the whole split, with what the loader took
};

// Where the scales of activations come from: magnitudes in batches as a training reads them, but
// without augmentation.
struct CalibrationOptions {
  std::string split = "train";
  uint32_t batches = 8;
  // Of an activation's magnitudes, zeros included, so many percent are within its range, and the
  // others are cut off at it; above 0. 100: the range ends at the largest.
  double percentile = 100;
};

// Each batch by all three, one after the other, in turns.
struct QuantisedEvaluation {
  Evaluation f32;              // as the training evaluates
  Evaluation folded;           // f32 with batch norm and ReLU in the layers before them
  Evaluation int8;             // the same layers in integers
  uint64_t same_class = 0;     // samples to which f32 and int8 give the same class
  double ratio = 0;            // of samples a second, int8 over f32
  double ratio_to_folded = 0;  // int8 over folded
  int int8_layers = 0;         // convolutions, dense layers, poolings and copies of integers
  int f32_layers = 0;          // others
  uint64_t calibrated_on = 0;  // samples
};

// Reads the checkpoint and builds its network on a device. One thread at a time, that which made
// it.
class Evaluator {
 public:
  // The network and its options are what the checkpoint says; what the optimizer has in it is not
  // read. Throws Error: kNotFound, kIo, kCorrupt; kUnsupported for a network that this library has
  // not, and for a device that this build has no backend for; kDevice for one that is not there;
  // kInvalidArgument where the file is no checkpoint, or its arrays are of other options.
  explicit Evaluator(const EvaluatorOptions& options, const TrainerNotice& notice = {});
  ~Evaluator();

  const CheckpointInfo& checkpoint() const noexcept;
  const std::string& path() const noexcept;  // of the checkpoint
  std::string Describe() const;              // of the device
  bool classifies() const noexcept;          // deepconn predicts a number

  // Every sample of the split once. Throws Error: what the loader throws; kInvalidArgument for
  // labels or tokens that are out of range.
  Evaluation Evaluate(const EvaluationSplit& split);

  // The same in f32 and in integers (docs/training.md). Throws besides: kUnsupported for deepconn,
  // for activations of bf16 and for devices other than the CPU; kInvalidArgument where there are
  // too few samples to calibrate on.
  QuantisedEvaluation EvaluateQuantised(const EvaluationSplit& split,
                                        const CalibrationOptions& calibration = {});

  // Height and width of the pictures that the network reads. Throws Error (kUnsupported) where it
  // reads none.
  int image_size() const;
  // Probabilities by class of a picture: image_size() rows of as many pixels of RGB, interleaved.
  // Throws as image_size().
  std::vector<double> Classify(const uint8_t* pixels);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::train
