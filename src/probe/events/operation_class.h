// Classifies device activities by what they compute.
#pragma once

#include <string_view>

namespace recpack::probe {

// Returns the class of operation of a kernel, a copy or a CPU primitive by its name: "convolution
// forward", "convolution backward data", "convolution backward weights", "convolution" (of a
// direction that the name does not tell), "matrix product", "attention", "normalisation",
// "pooling", "activation", "loss", "embedding", "factorisation", "optimiser", "padding",
// "broadcasting", "layout change", "conversion", "reduction", "elementwise", "random numbers",
// "input", "copy HtoD", "copy DtoH", "copy DtoD", "copy PtoP", "copy", "fill", "collective", else
// "other".
//
// Known are the names of cuDNN, cuBLAS, CUTLASS, NCCL, PyTorch, TensorFlow (Eigen), Triton, XLA and
// recpack; copies are named as nvprof names them ("[CUDA memcpy HtoD]"). A name that begins with a
// class, as those of rectrain's CPU operations do ("convolution forward conv1"), is of that class.
// The text is valid forever.
std::string_view ClassifyOperation(std::string_view name);

}  // namespace recpack::probe
