// Helpers that the emulated libraries share.
#pragma once

#include <cuda_runtime.h>

#include <functional>

#include "src/train/cuda/runtime/libraries.h"

namespace recpack::emulated {

// Enqueues a library's work, with its workspace full of garbage at the start. Returns false if the
// stream does not exist or refuses.
bool SubmitLibraryWork(cudaStream_t stream, void* workspace, size_t workspace_bytes,
                       std::function<void()> run);

// Accesses f32 or bf16 elements as floats.
float GetElement(const void* array, bool bf16, size_t index);
void SetElement(void* array, bool bf16, size_t index, float value);

// Their parts of the function table.
void FillCudnn(train::CudaLibraries* all);
void FillCublas(train::CudaLibraries* all);

}  // namespace recpack::emulated
