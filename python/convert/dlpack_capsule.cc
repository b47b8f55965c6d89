#include "python/convert/dlpack_capsule.h"

#include <cstring>
#include <utility>

#include "recpack/base/slab.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

struct Unversioned {
  static constexpr const char* kName = "dltensor";

  nb::dlpack::dltensor tensor;
  void* context;
  void (*deleter)(Unversioned*);
};

struct Versioned {
  static constexpr const char* kName = "dltensor_versioned";
  static constexpr uint64_t kCopied = 2;  // DLPACK_FLAG_BITMASK_IS_COPIED

  struct {
    uint32_t major, minor;
  } version;
  void* context;
  void (*deleter)(Versioned*);
  uint64_t flags;
  nb::dlpack::dltensor tensor;
};

// A managed tensor with what it points to.
template <typename Managed>
struct Exported {
  Managed managed = {};
  std::vector<int64_t> strides;
  HostArray array;
};

template <typename Managed>
std::unique_ptr<Exported<Managed>> Export(HostArray array) {
  auto exported = std::make_unique<Exported<Managed>>();
  exported->array = std::move(array);
  auto& shape = exported->array.shape;
  auto& strides = exported->strides;
  strides.resize(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) strides[i] = stride;
  exported->managed.tensor = {.data = const_cast<void*>(exported->array.data),
                              .device = {nb::device::cpu::value, 0},
                              .ndim = static_cast<int32_t>(shape.size()),
                              .dtype = exported->array.type,
                              .shape = shape.data(),
                              .strides = strides.data(),
                              .byte_offset = 0};
  exported->managed.context = exported.get();
  exported->managed.deleter = [](Managed* managed) {
    delete static_cast<Exported<Managed>*>(managed->context);
  };
  return exported;
}

template <typename Managed>
nb::object Wrap(std::unique_ptr<Exported<Managed>> exported) {
  const auto release_unless_taken = [](PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, Managed::kName) == 0) return;
    auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, Managed::kName));
    managed->deleter(managed);
  };
  PyObject* const capsule = PyCapsule_New(&exported->managed, Managed::kName, release_unless_taken);
  if (capsule == nullptr) throw nb::python_error();
  exported.release();  // NOLINT(bugprone-unused-return-value): the capsule owns it
  return nb::steal(capsule);
}

}  // namespace

HostArray CopyOfArray(const HostArray& array) {
  size_t bytes = array.type.bits / 8;
  for (const int64_t extent : array.shape) bytes *= static_cast<size_t>(extent);
  const std::shared_ptr<void> memory = HostSlabs().Allocate(bytes);
  std::memcpy(memory.get(), array.data, bytes);
  return {memory, memory.get(), array.shape, array.type};
}

nb::object MakeCapsule(HostArray array, CapsuleForm form) {
  if (form == CapsuleForm::kUnversioned) return Wrap(Export<Unversioned>(std::move(array)));
  auto exported = Export<Versioned>(std::move(array));
  exported->managed.version = {1, 0};
  exported->managed.flags = form == CapsuleForm::kVersionedCopy ? Versioned::kCopied : 0;
  return Wrap(std::move(exported));
}

}  // namespace recpack::python
