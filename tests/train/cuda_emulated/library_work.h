// What the emulated libraries share.
#pragma once

#include <cuda_runtime.h>

#include <functional>

#include "src/train/cuda/libraries.h"

namespace recpack::emulated {

// Enqueues a library's work, whose own memory is full of garbage when it begins. False: the stream
// is not there or refuses.
bool SubmitLibraryWork(cudaStream_t stream, void* workspace, size_t workspace_bytes,
                       std::function<void()> run);

// Elements of arrays, f32 or bf16, as floats.
float GetElement(const void* array, bool bf16, size_t index);
void SetElement(void* array, bool bf16, size_t index, float value);

// Their halves of the table.
void FillCudnn(CudaLibraries* all);
void FillCublas(CudaLibraries* all);

}  // namespace recpack::emulated
