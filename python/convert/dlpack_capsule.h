// DLPack capsules of memory that C++ owns, released on any thread without the interpreter.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace recpack::python {

// A contiguous array in host memory.
struct HostArray {
  std::shared_ptr<const void> owner;  // keeps `data` valid; its deleter must not need the GIL
  const void* data = nullptr;
  std::vector<int64_t> shape;
  nanobind::dlpack::dtype type;
};

// Returns the array in memory of its own.
HostArray CopyOfArray(const HostArray& array);

// The two forms of a managed tensor in https://github.com/dmlc/dlpack, include/dlpack/dlpack.h:
// "dltensor" (DLManagedTensor), and "dltensor_versioned" of 1.0 (DLManagedTensorVersioned), which
// alone can say that its memory is a copy.
enum class CapsuleForm { kUnversioned, kVersioned, kVersionedCopy };

// Returns a capsule that owns the array until a consumer takes it, as the protocol says: it renames
// the capsule, and calls the tensor's deleter when it is done. That deleter may run on any thread,
// also one that Python does not know, while the interpreter ends, after it, and in a forked child.
// (nanobind's own takes the GIL, and a thread that asks for it while the interpreter ends is ended
// by Python, which terminates the process if C++ is on its stack.)
nanobind::object MakeCapsule(HostArray array, CapsuleForm form);

}  // namespace recpack::python
