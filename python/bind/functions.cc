// Bindings for user functions: the objects that they are called through, and what they may call.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/bind/bind.h"
#include "python/calls/function_calls.h"
#include "python/calls/running_calls.h"
#include "python/calls/worker_processes.h"
#include "python/convert/array_type.h"
#include "python/convert/choice.h"
#include "python/convert/features.h"
#include "python/convert/given.h"
#include "python/convert/owned_array.h"
#include "recpack/image/decode.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

// For arrays of a type that NumPy has.
constexpr Words<ElementType, 6> kTypes = {{{"u8", ElementType::kU8},
                                           {"i32", ElementType::kI32},
                                           {"i64", ElementType::kI64},
                                           {"u64", ElementType::kU64},
                                           {"f16", ElementType::kF16},
                                           {"f32", ElementType::kF32}}};

std::vector<ArraySpec> ToArraySpecs(const std::vector<ArrayTuple>& given) {
  std::vector<ArraySpec> arrays;
  arrays.reserve(given.size());
  for (const auto& [name, type, shape, rows] : given) {
    ArraySpec array{.name = name,
                    .type = ParseWord(kTypes, type, "type"),
                    .shape = shape,
                    .rows = ParseWord(kRows, rows, "kind of rows")};
    array.sample_bytes = ElementBytes(array.type);
    for (const uint32_t extent : shape) array.sample_bytes *= extent;
    arrays.push_back(std::move(array));
  }
  return arrays;
}

using Bytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::object Decode(nb::handle given, bool apply_orientation, bool allow_damage) {
  const auto data = Given<Bytes>(given, "decode_image(): data", "bytes or an array of uint8");
  DecodeOptions options;
  options.apply_orientation = apply_orientation;
  options.allow_damage = allow_damage;
  Image image;
  {
    const nb::gil_scoped_release unlocked;
    thread_local ImageDecoder decoder;
    decoder.Decode({data.data(), data.size()}, options, image);
  }
  return OwnedArray(std::move(image.pixels),
                    {static_cast<size_t>(image.height), static_cast<size_t>(image.width),
                     static_cast<size_t>(image.channels)});
}

// Garbage collector support for a loader's calls: the errors that they hold.
int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  return nb::inst_ptr<SharedCalls>(self)->errors->Visit(visit, arg);
}

int Clear(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<SharedCalls>(self)->errors->Clear();
  return 0;
}

const PyType_Slot kCallsSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(Traverse)},
                                   {Py_tp_clear, reinterpret_cast<void*>(Clear)},
                                   {0, nullptr}};

// Shared by fields that call functions in processes.
struct SharedProcesses {
  std::shared_ptr<WorkerProcesses> processes;
};

FunctionField MakeFunctionField(const SharedProcesses& shared, uint64_t number,
                                const SharedCalls& running, std::string name,
                                const std::vector<ArrayTuple>& arrays, uint32_t stream,
                                std::optional<ImageField> picture,
                                std::optional<AudioField> audio) {
  auto specs = ToArraySpecs(arrays);
  const auto call = [processes = shared.processes,
                     function = ProcessFunction{number, std::move(name), running},
                     specs](SampleView& sample) { processes->Call(function, specs, sample); };
  return {specs, call, stream, std::move(picture), std::move(audio)};
}

BatchFunction MakeBatchFunction(const SharedProcesses& shared, uint64_t number,
                                const SharedCalls& running, std::string name,
                                const std::vector<ArrayTuple>& arrays, uint32_t stream) {
  const auto call = [processes = shared.processes,
                     function = ProcessFunction{number, std::move(name), running}](
                        BatchView& batch) { processes->Call(function, batch); };
  return {ToArraySpecs(arrays), call, stream};
}

void BindProcesses(nb::module_& module) {
  nb::class_<SharedProcesses>(module, "WorkerProcesses")
      .def(
          "__init__",
          [](SharedProcesses* self, const std::vector<std::tuple<int, int, int>>& processes) {
            new (self) SharedProcesses{std::make_shared<WorkerProcesses>(processes)};
          },
          nb::arg("processes"))
      .def("field", MakeFunctionField, nb::arg("number"), nb::arg("running"), nb::arg("name"),
           nb::arg("arrays"), nb::arg("stream"), nb::arg("picture").none(), nb::arg("audio").none())
      .def("batch_function", MakeBatchFunction, nb::arg("number"), nb::arg("running"),
           nb::arg("name"), nb::arg("arrays"), nb::arg("stream"))
      .def("stop", [](SharedProcesses& shared) { shared.processes->Stop(); });
}

}  // namespace

void BindFunctions(nb::module_& module) {
  BindProcesses(module);
  nb::class_<Features>(module, "Features")
      .def(
          "__init__",
          [](Features* self, const Bytes& example) {
            new (self) Features(ByteView(example.data(), example.size()));
          },
          nb::arg("example"))
      .def("__getitem__", &Features::Get, nb::arg("name"), nb::lock_self())
      .def(
          "__contains__",
          [](const Features& features, const std::string& name) {
            return features.example().Find(name) != nullptr;
          },
          nb::lock_self())
      .def("keys", &Features::Names, nb::lock_self())
      .def("end", &Features::End, nb::lock_self());
  nb::class_<SharedCalls>(module, "RunningCalls", nb::type_slots(kCallsSlots)).def(nb::init<>());
  nb::class_<FunctionField>(module, "FunctionField")
      .def(
          "__init__",
          [](FunctionField* self, const nb::object& caller, const SharedCalls& running,
             std::string name, const std::vector<ArrayTuple>& arrays, uint32_t stream,
             std::optional<ImageField> picture, std::optional<AudioField> audio) {
            auto specs = ToArraySpecs(arrays);
            const SampleCall call(Caller(caller, std::move(name), running), specs);
            new (self)
                FunctionField{std::move(specs), call, stream, std::move(picture), std::move(audio)};
          },
          nb::arg("caller"), nb::arg("running"), nb::arg("name"), nb::arg("arrays"),
          nb::arg("stream"), nb::arg("picture").none(), nb::arg("audio").none());
  nb::class_<BatchFunction>(module, "BatchFunction")
      .def(
          "__init__",
          [](BatchFunction* self, const nb::object& caller, const SharedCalls& running,
             std::string name, const std::vector<ArrayTuple>& arrays, uint32_t stream) {
            const BatchCall call(Caller(caller, std::move(name), running));
            new (self) BatchFunction{ToArraySpecs(arrays), call, stream};
          },
          nb::arg("caller"), nb::arg("running"), nb::arg("name"), nb::arg("arrays"),
          nb::arg("stream"));
  nb::class_<MixImages>(module, "MixImages")
      .def(nb::init<>())
      .def_rw("image", &MixImages::image)
      .def_rw("label", &MixImages::label)
      .def_rw("target", &MixImages::target)
      .def_rw("classes", &MixImages::classes)
      .def_rw("mixup_alpha", &MixImages::mixup_alpha)
      .def_rw("cutmix_alpha", &MixImages::cutmix_alpha)
      .def_rw("probability", &MixImages::probability)
      .def_rw("stream", &MixImages::stream);
  module.def(
      "decode_image", Decode, nb::arg("data"), nb::kw_only(), nb::arg("apply_orientation") = false,
      nb::arg("allow_damage") = false,
      nb::sig("def decode_image(data: bytes | numpy.typing.NDArray[numpy.uint8], *, "
              "apply_orientation: bool = False, allow_damage: bool = False) -> "
              "numpy.typing.NDArray[numpy.uint8]"),
      "The pixels of a JPEG, PNG, WebP, AVIF, TIFF, BMP or GIF file, uint8 of shape (height, "
      "width, 3), RGB. "
      "`data`: bytes, or a uint8 array. apply_orientation: turned as EXIF says. allow_damage: what "
      "is cut or damaged is taken, missing parts gray or wrong. Raises CorruptError, and "
      "UnsupportedError for other formats.");
}

}  // namespace recpack::python
