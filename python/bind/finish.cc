// Bindings of the last step of images, for batches whose images travel as bytes.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "python/bind/bind.h"
#include "python/convert/array_type.h"
#include "python/convert/choice.h"
#include "python/convert/image_words.h"
#include "python/convert/owned_array.h"
#include "recpack/base/buffer_pool.h"
#include "recpack/base/error.h"
#include "recpack/loader/image_field.h"
#include "src/base/format.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

using Bytes = nb::ndarray<const uint8_t, nb::c_contig, nb::device::cpu>;
using Places = nb::ndarray<const int32_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

static_assert(sizeof(FinishGeometry) == 3 * sizeof(int32_t));

nb::dict ToDict(const FinishOptions& options) {
  nb::dict dict;
  dict["in_layout"] = ToWord(kLayouts, options.in_layout);
  dict["in_height"] = options.in_height;
  dict["in_width"] = options.in_width;
  dict["channels"] = options.channels;
  dict["out_height"] = options.out_height;
  dict["out_width"] = options.out_width;
  dict["fill"] = options.fill;
  dict["scale"] = options.scale;
  dict["bias"] = options.bias;
  dict["type"] = ToWord(kImageTypes, options.type);
  dict["out_layout"] = ToWord(kLayouts, options.out_layout);
  return dict;
}

FinishOptions FromDict(const nb::dict& dict) {
  const auto floats = [&](const char* name) { return nb::cast<std::array<float, 4>>(dict[name]); };
  const auto word = [&](const char* name) { return nb::cast<std::string>(dict[name]); };
  return {.in_layout = ParseWord(kLayouts, word("in_layout"), "in_layout"),
          .in_height = nb::cast<int>(dict["in_height"]),
          .in_width = nb::cast<int>(dict["in_width"]),
          .channels = nb::cast<int>(dict["channels"]),
          .out_height = nb::cast<int>(dict["out_height"]),
          .out_width = nb::cast<int>(dict["out_width"]),
          .fill = nb::cast<uint8_t>(dict["fill"]),
          .scale = floats("scale"),
          .bias = floats("bias"),
          .type = ParseWord(kImageTypes, word("type"), "type"),
          .out_layout = ParseWord(kLayouts, word("out_layout"), "out_layout")};
}

size_t SourceBytes(const FinishOptions& options) {
  return static_cast<size_t>(options.in_height) * static_cast<size_t>(options.in_width) *
         static_cast<size_t>(options.channels);
}

// The field whose images are left unfinished, and the options that finish them; nullopt if the
// bytes are not fewer, or what is done to an image comes after its last step.
std::optional<std::pair<ImageField, nb::dict>> Unfinished(const ImageField& field) {
  if (field.decoding.bits != 8 || field.augment.erasing.probability > 0) return {};
  ImageField left = field;
  left.finish_on_device = true;
  const FinishOptions options = ToFinishOptions(left);
  if (SourceBytes(options) >= Finisher(options).out_bytes()) return {};
  return std::pair(std::move(left), ToDict(options));
}

// Pool of results. Batches of a training are of one size, and fresh pages take longer than what is
// written to them.
BufferPool& Pool() {
  static const auto pool = std::make_shared<BufferPool>(size_t{512} << 20);
  return *pool;
}

// Thread-safe.
class ImageFinisher {
 public:
  explicit ImageFinisher(const nb::dict& options)
      : options_(FromDict(options)), finisher_(options_) {}

  nb::object operator()(const Bytes& images, const Places& places) const {
    const size_t count = places.shape(0), source = SourceBytes(options_);
    if (images.size() != count * source) {
      throw Error(ErrorKind::kInvalidArgument,
                  format("{} bytes of images, where {} images of {} bytes were expected",
                         images.size(), count, source));
    }
    const size_t result = finisher_.out_bytes();
    const std::shared_ptr<uint8_t[]> out = Pool().Take(std::max<size_t>(1, count * result));
    {
      const nb::gil_scoped_release unlocked;
      for (size_t i = 0; i < count; ++i) {
        const int32_t* const place = places.data() + 3 * i;
        finisher_(images.data() + i * source, {.x = place[0], .y = place[1], .flip = place[2] != 0},
                  out.get() + i * result);
      }
    }
    const auto height = static_cast<size_t>(options_.out_height);
    const auto width = static_cast<size_t>(options_.out_width);
    const auto channels = static_cast<size_t>(options_.channels);
    const bool planar = options_.out_layout == ImageLayout::kNchw;
    const std::array<size_t, 4> shape = planar ? std::array{count, channels, height, width}
                                               : std::array{count, height, width, channels};
    return nb::cast(nb::ndarray<nb::numpy>(out.get(), shape.size(), shape.data(), MakeKeeper(out),
                                           nullptr, ToDlpackType(options_.type)));
  }

 private:
  const FinishOptions options_;
  const Finisher finisher_;
};

}  // namespace

void BindFinish(nb::module_& module) {
  module.def("_unfinished", &Unfinished, nb::arg("field"));
  nb::class_<ImageFinisher>(module, "_ImageFinisher")
      .def(nb::init<const nb::dict&>(), nb::arg("options"))
      .def("__call__", &ImageFinisher::operator(), nb::arg("images"), nb::arg("places"));
}

}  // namespace recpack::python
