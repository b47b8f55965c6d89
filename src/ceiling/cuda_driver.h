// CUDA driver API, loaded at run time, so that programs start without it.
#pragma once

#include <cstddef>
#include <string>

#include "recpack/base/shared_library.h"

namespace recpack::ceiling {

// Names, signatures and versions are those that cuda.h selects.
struct CudaDriver {
  using Result = int;  // 0: success
  using Device = int;
  using Memory = unsigned long long;
  using Context = struct OpaqueCudaContext*;
  using Stream = struct OpaqueCudaStream*;
  using Module = struct OpaqueCudaModule*;
  using Function = struct OpaqueCudaFunction*;

  // Throws Error: kUnsupported if it cannot be loaded, kDevice if it cannot be initialised.
  explicit CudaDriver(const std::string& library);

  // Throws Error (kDevice) with the name of the call and the driver's message unless `result` is 0.
  void Check(const char* call, Result result) const;

  SharedLibrary library;
  Result (*init)(unsigned) = nullptr;
  Result (*count)(int*) = nullptr;
  Result (*device)(Device*, int) = nullptr;
  Result (*error_string)(Result, const char**) = nullptr;
  Result (*retain)(Context*, Device) = nullptr;
  Result (*release)(Device) = nullptr;
  Result (*set_current)(Context) = nullptr;
  Result (*host_alloc)(void**, size_t, unsigned) = nullptr;
  Result (*host_free)(void*) = nullptr;
  Result (*alloc)(Memory*, size_t) = nullptr;
  Result (*free)(Memory) = nullptr;
  Result (*copy_to_device)(Memory, const void*, size_t, Stream) = nullptr;
  Result (*stream_create)(Stream*, unsigned) = nullptr;
  Result (*stream_destroy)(Stream) = nullptr;
  Result (*stream_synchronize)(Stream) = nullptr;
  Result (*module_load)(Module*, const void*) = nullptr;
  Result (*module_unload)(Module) = nullptr;
  Result (*module_function)(Function*, Module, const char*) = nullptr;
  Result (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   Stream, void**, void**) = nullptr;
};

}  // namespace recpack::ceiling
