#include "src/probe/events/operation_class.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace recpack::probe {
namespace {

constexpr std::string_view kForward = "convolution forward";
constexpr std::string_view kBackwardData = "convolution backward data";
constexpr std::string_view kBackwardWeights = "convolution backward weights";
constexpr std::string_view kConvolution = "convolution";
constexpr std::string_view kProduct = "matrix product";
constexpr std::string_view kAttention = "attention";
constexpr std::string_view kNormalisation = "normalisation";
constexpr std::string_view kPooling = "pooling";
constexpr std::string_view kActivation = "activation";
constexpr std::string_view kLoss = "loss";
constexpr std::string_view kEmbedding = "embedding";
constexpr std::string_view kFactorisation = "factorisation";
constexpr std::string_view kOptimiser = "optimiser";
constexpr std::string_view kPadding = "padding";
constexpr std::string_view kBroadcasting = "broadcasting";
constexpr std::string_view kLayout = "layout change";
constexpr std::string_view kConversion = "conversion";
constexpr std::string_view kReduction = "reduction";
constexpr std::string_view kElementwise = "elementwise";
constexpr std::string_view kRandom = "random numbers";
constexpr std::string_view kInput = "input";
constexpr std::string_view kHtoD = "copy HtoD";
constexpr std::string_view kDtoH = "copy DtoH";
constexpr std::string_view kDtoD = "copy DtoD";
constexpr std::string_view kPtoP = "copy PtoP";
constexpr std::string_view kCopy = "copy";
constexpr std::string_view kFill = "fill";
constexpr std::string_view kCollective = "collective";
constexpr std::string_view kOther = "other";

// Longer ones before their beginnings.
constexpr std::string_view kClasses[] = {kForward,       kBackwardData, kBackwardWeights,
                                         kConvolution,   kProduct,      kAttention,
                                         kNormalisation, kPooling,      kActivation,
                                         kLoss,          kEmbedding,    kFactorisation,
                                         kOptimiser,     kPadding,      kBroadcasting,
                                         kLayout,        kConversion,   kReduction,
                                         kElementwise,   kRandom,       kInput,
                                         kHtoD,          kDtoH,         kDtoD,
                                         kPtoP,          kCopy,         kFill,
                                         kCollective,    kOther};

struct Rule {
  std::string_view part;  // of the name, in lower case
  std::string_view operation;
};

// Eigen's expressions contain each other: what comes first is the outermost.
constexpr Rule kEigen[] = {
    {"tensorpaddingop", kPadding},         {"tensorbroadcastingop", kBroadcasting},
    {"tensorshufflingop", kLayout},        {"tensorslicingop", kLayout},
    {"tensorstridingslicingop", kLayout},  {"tensorconcatenationop", kLayout},
    {"tensorreversop", kLayout},           {"tensorreductionop", kReduction},
    {"tensortupplereducer", kReduction},   {"tensorcontractionop", kProduct},
    {"tensorconvolutionop", kConvolution}, {"tensorconversionop", kConversion},
    {"tensorcwise", kElementwise}};

// The first one that the name contains counts.
constexpr Rule kRules[] = {{"memcpy htod", kHtoD},
                           {"memcpy dtoh", kDtoH},
                           {"memcpy dtod", kDtoD},
                           {"memcpy ptop", kPtoP},
                           {"[copy]", kCopy},
                           {"memcpy", kCopy},
                           {"memset", kFill},
                           {"fillfunctor", kFill},
                           {"allreduce", kCollective},
                           {"all_reduce", kCollective},
                           {"finishbatch", kInput},
                           {"tokenmap", kEmbedding},
                           {"numbertokens", kEmbedding},
                           {"embedding", kEmbedding},
                           {"factorisationarrays", kFactorisation},
                           {"philox", kRandom},
                           {"curand", kRandom},
                           {"distribution_", kRandom},
                           {"dropout", kRandom},
                           {"adam", kOptimiser},
                           {"sgd", kOptimiser},
                           {"applymomentum", kOptimiser},
                           {"applygradientdescent", kOptimiser},
                           {"rmsprop", kOptimiser},
                           {"adagrad", kOptimiser},
                           {"multi_tensor_apply", kOptimiser},
                           {"norm", kNormalisation},
                           {"bn_fw", kNormalisation},
                           {"bn_bw", kNormalisation},
                           {"attention", kAttention},
                           {"flash_fwd", kAttention},
                           {"flash_bwd", kAttention},
                           {"fmha", kAttention},
                           {"triton_poi", kElementwise},
                           {"triton_red", kReduction},
                           {"triton_per", kReduction},
                           {"nchwtonhwc", kLayout},
                           {"nhwctonchw", kLayout},
                           {"wgrad", kBackwardWeights},
                           {"grad_weight", kBackwardWeights},
                           {"backwardfilter", kBackwardWeights},
                           {"backpropfilter", kBackwardWeights},
                           {"backpropinput", kBackwardData},
                           {"dgrad", kBackwardData},
                           {"conv_depthwise2d_backward", kBackwardData},
                           {"fprop", kForward},
                           {"conv_depthwise2d_forward", kForward},
                           {"scudnn_128x64_relu", kForward},
                           {"scudnn_128x128_relu", kForward},
                           {"scudnn_128x32_relu", kForward},
                           {"convert", kConversion},
                           {"implicit_convolve", kForward},
                           {"conv", kConvolution},
                           {"winograd", kConvolution},
                           {"scudnn", kConvolution},
                           {"im2col", kConvolution},
                           {"col2im", kConvolution},
                           {"fft2d", kConvolution},
                           {"gemm", kProduct},
                           {"gemv", kProduct},
                           {"cublas", kProduct},
                           {"nvjet", kProduct},
                           {"splitkreduce", kProduct},
                           {"matmul", kProduct},
                           {"cutlass", kProduct},
                           {"softmax", kLoss},
                           {"cross_entropy", kLoss},
                           {"crossentropy", kLoss},
                           {"xentropy", kLoss},
                           {"loss", kLoss},
                           {"sampleerrors", kLoss},
                           {"pool", kPooling},
                           {"padinput", kPadding},
                           {"constant_pad", kPadding},
                           {"reflection_pad", kPadding},
                           {"transpose", kLayout},
                           {"permute", kLayout},
                           {"swapdimension", kLayout},
                           {"concat", kLayout},
                           {"catarray", kLayout},
                           {"reduce", kReduction},
                           {"reduction", kReduction},
                           {"biasgrad", kReduction},
                           {"broadcast", kBroadcasting},
                           {"cast", kConversion},
                           {"elementwise", kElementwise},
                           {"mapone", kElementwise},
                           {"maptwo", kElementwise},
                           {"bias", kElementwise},
                           {"fusion", kElementwise}};

std::string_view FindFirstInName(const std::string& name) {
  std::string_view found = kElementwise;
  size_t place = std::string::npos;
  for (const Rule& rule : kEigen) {
    if (const size_t at = name.find(rule.part); at < place) {
      place = at;
      found = rule.operation;
    }
  }
  return found;
}

}  // namespace

std::string_view ClassifyOperation(std::string_view name) {
  for (const std::string_view known : kClasses) {
    const bool whole = name.size() == known.size();
    if (name.starts_with(known) && (whole || name[known.size()] == ' ')) return known;
  }
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower.starts_with("nccl")) return kCollective;
  if (lower.find("eigenmetakernel") != std::string::npos) return FindFirstInName(lower);
  for (const Rule& rule : kRules) {
    if (lower.find(rule.part) != std::string::npos) return rule.operation;
  }
  return kOther;
}

}  // namespace recpack::probe
