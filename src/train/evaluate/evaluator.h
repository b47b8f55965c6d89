// Evaluates a trained network: its score on a split, the classes of an image, and the effect of
// 8-bit quantisation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/train/checkpoint/checkpoint.h"
#include "src/train/run/trainer.h"

namespace recpack::train {

struct EvaluatorOptions {
  // A file, or a folder: its latest valid checkpoint; or a file *.onnx: the network of another
  // program.
  std::string checkpoint;
  ElementType type = ElementType::kF32;  // of activations, or kBf16
  uint32_t batch_size = 0;               // 0: DefaultBatchSize()
  DeviceSpec device = {};                // a CPU or a GPU
  int threads = 0;                       // of a CPU device; 0: all available
  int loader_threads = 1;
  std::string recipe =
      {};  // for image models; empty: the checkpoint's; of ONNX, by its size of images
};

struct EvaluationSplit {
  std::string data;        // as for Dataset::Open()
  std::string split = {};  // empty: the first of test, eval and validation that exists
  FieldMap fields = {};    // as in DatasetOptions
  int64_t label_offset = 0;
};

struct Evaluation {
  Score score;
  double samples_per_second = 0;  // of the network alone: batch size / median time per batch
  double seconds = 0;             // for the whole split, including loading
};

// Calibration of activation scales, on training batches without augmentation.
struct CalibrationOptions {
  std::string split = "train";
  uint32_t batches = 8;
  // Percentage of an activation's magnitudes, zeros included, that are within its range; larger
  // ones are clipped. Above 0. 100: the range ends at the maximum.
  double percentile = 100;
  // Ranges of an earlier calibration (SaveRanges()), to be used instead; empty: calibrate.
  std::string ranges_file = {};
};

// Each batch is run by all three networks in turn.
struct QuantisedEvaluation {
  Evaluation f32;              // as the training evaluates
  Evaluation folded;           // f32 with batch norm and ReLU folded into the layers before them
  Evaluation int8;             // the same layers in integers
  uint64_t same_class = 0;     // samples for which f32 and int8 predict the same class
  double logit_error = 0;      // root mean square of int8's logits minus f32's, / that of f32's
  double ratio = 0;            // samples per second of int8 / f32
  double ratio_to_folded = 0;  // samples per second of int8 / folded
  int int8_layers = 0;         // convolutions, dense layers, poolings and integer copies
  int f32_layers = 0;          // all others
  uint64_t calibrated_on = 0;  // number of samples
};

// Reads a checkpoint or an ONNX file, and builds its network on a device. Used only on the thread
// that made it.
class Evaluator {
 public:
  // The network and its options come from the checkpoint; the optimizer's arrays are not read.
  // Errors of ReadOnnxNetwork() for *.onnx. Throws Error: kNotFound, kIo, kCorrupt; kUnsupported
  // for an unknown network, or a device without a backend in this build; kDevice for a missing
  // device; kInvalidArgument if the file is not a checkpoint, or its arrays do not match its
  // options.
  explicit Evaluator(const EvaluatorOptions& options, const TrainerNotice& notice = {});
  ~Evaluator();

  const CheckpointInfo& checkpoint() const noexcept;
  const std::string& path() const noexcept;  // of the checkpoint
  std::string Describe() const;              // describes the device
  bool classifies() const noexcept;          // false for deepconn, which predicts a number

  // Evaluates every sample of the split once. Throws Error: errors of the loader; kInvalidArgument
  // for labels or tokens out of range.
  Evaluation Evaluate(const EvaluationSplit& split);

  // Quantises the network (docs/reference/training.md), calibrated on `split.data`: from then on
  // Classify() computes in integers. Throws errors of the loader and of ReadRanges(); kUnsupported
  // for deepconn, for bf16 activations and for devices other than the CPU; kInvalidArgument if
  // there are too few samples for calibration, or if the ranges are those of another network.
  void Quantise(const EvaluationSplit& split, const CalibrationOptions& calibration = {});
  // Saves the ranges that Quantise() found, for CalibrationOptions::ranges_file. Throws Error
  // (kIo).
  void SaveRanges(const std::string& path) const;

  // Calls Quantise(), and evaluates in f32 and in integers.
  QuantisedEvaluation EvaluateQuantised(const EvaluationSplit& split,
                                        const CalibrationOptions& calibration = {});

  // Height and width of the images that the network reads. Throws Error (kUnsupported) if it reads
  // none.
  int image_size() const;
  // Class probabilities of an image: image_size() rows of image_size() interleaved RGB pixels.
  // Throws like image_size().
  std::vector<double> Classify(const uint8_t* pixels);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::train
