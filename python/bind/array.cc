// Bindings of a batch's array for other libraries: DLPack and the buffer protocol.
#include "python/objects/array.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "python/bind/bind.h"
#include "python/convert/dlpack_capsule.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

constexpr std::pair<int, int> kHost = {nb::device::cpu::value, 0};

HostArray ToHostArray(const HeldArray& held) {
  return {held.batch, held.batch->Raw(held.spec->name), held.shape<int64_t>(),
          ToDlpackType(held.spec->type)};
}

// `stream`: the array is complete on the host, so that no stream has to wait for anything.
nb::object MakeArrayCapsule(const HeldArray& held, const nb::object& /*stream*/,
                            std::optional<std::pair<int, int>> max_version,
                            std::optional<std::pair<int, int>> dl_device,
                            std::optional<bool> copy) {
  if (dl_device && *dl_device != kHost) {
    const std::string message = "unsupported dl_device (" + std::to_string(dl_device->first) +
                                ", " + std::to_string(dl_device->second) +
                                "): the array is in host memory, (1, 0); copy it from there";
    throw nb::buffer_error(message.c_str());
  }
  const bool versioned = max_version && max_version->first >= 1;
  HostArray array = ToHostArray(held);
  if (!copy.value_or(false)) {
    return MakeCapsule(std::move(array),
                       versioned ? CapsuleForm::kVersioned : CapsuleForm::kUnversioned);
  }
  {
    const nb::gil_scoped_release unlocked;
    array = CopyOfArray(array);
  }
  return MakeCapsule(std::move(array),
                     versioned ? CapsuleForm::kVersionedCopy : CapsuleForm::kUnversioned);
}

// For numpy.asarray() and memoryview(), whose views are released with the GIL.
int GetBuffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  try {
    if (!nb::inst_ready(self)) throw nb::buffer_error("the array was not made by a batch");
    const nb::object array = MakeArray<nb::array_api>(*nb::inst_ptr<HeldArray>(self));
    return PyObject_GetBuffer(array.ptr(), view, flags);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
  }
  return -1;
}

const PyType_Slot kSlots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(GetBuffer)}, {0, nullptr}};

}  // namespace

void BindArray(nb::module_& module) {
  nb::class_<HeldArray>(module, "Array", nb::type_slots(kSlots),
                        "An array of a batch for torch.from_dlpack() and similar functions.")
      .def("__dlpack__", MakeArrayCapsule, nb::kw_only(), nb::arg("stream") = nb::none(),
           nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(),
           nb::arg("copy") = nb::none(),
           nb::sig("def __dlpack__(self, *, stream: typing.Any = None, max_version: tuple[int, "
                   "int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | "
                   "None = None) -> typing.Any"),
           "A capsule of the array, which shares the batch's memory and keeps it alive, or of a "
           "copy. It may be released on any thread, also while the program ends.")
      .def(
          "__dlpack_device__", [](const HeldArray&) { return kHost; },
          "The host, (1, 0) as DLPack numbers devices.");
}

}  // namespace recpack::python
