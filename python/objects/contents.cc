#include "python/objects/contents.h"

#include <algorithm>

#include "python/objects/record.h"
#include "recpack/base/error.h"
#include "recpack/example/schema.h"
#include "recpack/image/encode.h"
#include "src/pack/check/sheet.h"
#include "src/shards/layout/layout.h"

namespace recpack::python {
namespace nb = nanobind;

namespace {

constexpr uint64_t kSchemaRecords = 100;

}  // namespace

std::vector<FeatureTuple> Schema(OpenDataset& open) {
  SchemaBuilder builder;
  const uint64_t records = open.dataset().records();
  const uint64_t looked_at = std::min(records, kSchemaRecords);
  for (uint64_t i = 0; i < looked_at; ++i) {
    builder.Add(ReadOne(open, i * records / looked_at)->example());
  }
  std::vector<FeatureTuple> features;
  for (const FeatureSpec& spec : builder.Finish()) {
    features.emplace_back(spec.name, spec.mixed ? "mixed" : FeatureKindName(spec.kind),
                          spec.min_length, spec.max_length, spec.min_bytes, spec.max_bytes);
  }
  return features;
}

std::vector<std::pair<std::string, uint64_t>> Splits(const OpenDataset& open) {
  std::vector<std::pair<std::string, uint64_t>> splits;
  if (open.as().paths.size() != 1) return splits;
  try {
    const Layout layout = FindLayout(open.as().paths[0]);
    if (!layout.manifest) return splits;
    for (const ManifestSplit& split : layout.manifest->splits) {
      splits.emplace_back(split.name, split.records());
    }
  } catch (const Error&) {  // sources other than shards
  }
  return splits;
}

nb::bytes Sheet(OpenDataset& open, int columns, int rows, int cell, uint64_t seed,
                const std::array<int, 3>& shape) {
  const pack::SheetOptions options{
      .columns = columns, .rows = rows, .cell = cell, .seed = seed, .raw_shape = shape};
  const Dataset& dataset = open.dataset();
  const std::vector<uint64_t> shown = pack::PickSheetRecords(dataset.records(), options);
  std::vector<pack::SheetCell> cells;
  cells.reserve(shown.size());
  for (const uint64_t id : shown) {
    const auto record = ReadOne(open, id);
    const ExampleView& example = record->example();
    const nb::gil_scoped_release unlocked;
    cells.push_back(pack::MakeSheetCell(example, dataset.class_names(), options));
  }
  const auto has_picture = [](const pack::SheetCell& each) { return each.picture.has_value(); };
  if (!std::ranges::any_of(cells, has_picture)) {
    throw Error(ErrorKind::kNotFound,
                "no record of the split '" + dataset.split() + "' holds a picture",
                {.path = dataset.path()}, "raw planar pixels need their shape=(3, 32, 32)");
  }
  const ByteBuffer png = EncodePng(pack::DrawCells(cells, options));
  return nb::bytes(png.data(), png.size());
}

}  // namespace recpack::python
