#include "src/device/layout.h"

#include <algorithm>
#include <variant>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {
namespace {

constexpr size_t kAlignment = 256;

size_t Align(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

size_t Find(const std::vector<ArraySpec>& arrays, const std::string& name) {
  const auto same = [&](const ArraySpec& array) { return array.name == name; };
  return static_cast<size_t>(std::ranges::find_if(arrays, same) - arrays.begin());
}

ArraySpec MakeResultSpec(const ImageField& field, const FinishOptions& options) {
  const auto c = static_cast<uint32_t>(options.channels);
  const auto h = static_cast<uint32_t>(options.out_height);
  const auto w = static_cast<uint32_t>(options.out_width);
  const bool interleaved = options.out_layout == ImageLayout::kNhwc;
  return {.name = field.name,
          .type = options.type,
          .shape = interleaved ? std::vector{h, w, c} : std::vector{c, h, w},
          .sample_bytes = size_t{c} * h * w * ElementBytes(options.type)};
}

}  // namespace

DeviceLayout LayOut(const Loader& loader) {
  const std::vector<ArraySpec>& given = loader.arrays();
  const size_t samples = loader.options().batch_size;
  DeviceLayout layout;
  for (const ArraySpec& array : given) {
    if (array.rows == ArrayRows::kRagged) {
      throw Error(
          ErrorKind::kUnsupported,
          format("array '{}' is ragged with offsets, which no device is fed with", array.name), {},
          "let it be padded, or copy host batches yourself");
    }
    layout.slab_bytes = std::max(layout.slab_bytes, array.offset + array.sample_bytes * samples);
  }
  layout.slot_bytes = Align(layout.slab_bytes);

  auto arrays = std::make_shared<std::vector<ArraySpec>>(given);
  for (size_t i = 0; i < given.size(); ++i) layout.sources.push_back(i);
  for (const Field& each : loader.options().fields) {
    const auto* field = std::get_if<ImageField>(&each);
    if (field == nullptr || !field->finish_on_device) continue;
    const FinishOptions options = ToFinishOptions(*field);
    ArraySpec result = MakeResultSpec(*field, options);
    result.offset = layout.slot_bytes;
    const size_t image = Find(given, field->name);
    const size_t place = Find(given, field->name + "_geometry");
    layout.steps.push_back({options, image, place, given[image].offset, given[place].offset,
                            result.offset, result.sample_bytes});
    layout.slot_bytes = Align(result.offset + result.sample_bytes * samples);
    const size_t at = Find(*arrays, field->name);
    (*arrays)[at] = std::move(result);
    layout.sources[at] = DeviceLayout::kResult;
    const size_t geometry = Find(*arrays, field->name + "_geometry");
    arrays->erase(arrays->begin() + static_cast<ptrdiff_t>(geometry));
    layout.sources.erase(layout.sources.begin() + static_cast<ptrdiff_t>(geometry));
  }
  layout.arrays = std::move(arrays);
  return layout;
}

}  // namespace recpack
