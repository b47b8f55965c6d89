#include "tools/recpack/batch_sheet.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/loader/loader.h"
#include "recpack/loader/recipe.h"
#include "src/base/format.h"

namespace recpack::tool {
namespace {

// Returns the recipe's fields with the pictures as bytes: cropped and augmented, but not
// normalised.
std::vector<Field> InBytes(const std::string& recipe) {
  std::vector<Field> fields = Recipe(recipe);
  for (Field& field : fields) {
    if (auto* image = std::get_if<ImageField>(&field)) {
      image->type = ElementType::kU8;
      image->layout = ImageLayout::kNhwc;
    }
  }
  return fields;
}

Image ToImage(const ArraySpec& array, const uint8_t* bytes) {
  Image picture;
  picture.Reshape(static_cast<int>(array.shape[1]), static_cast<int>(array.shape[0]), 3);
  const uint32_t channels = array.shape[2];
  for (size_t i = 0; i < picture.pixels.size(); ++i) {
    picture.pixels[i] = bytes[channels == 3 ? i : i / 3 * channels];
  }
  return picture;
}

std::string LabelName(int64_t label, const std::vector<std::string>& names) {
  const bool named = label >= 0 && static_cast<size_t>(label) < names.size();
  return named ? names[static_cast<size_t>(label)] : std::to_string(label);
}

Batch BatchBehind(Loader& loader) {
  for (;;) {
    if (auto batch = loader.Next()) return std::move(*batch);  // nullopt: end of an epoch
  }
}

}  // namespace

Image DrawBatchBehind(const std::string& path, const std::string& split,
                      const BatchSheetFlags& flags, const pack::SheetOptions& options) {
  const Dataset dataset = Dataset::Open(path, {.split = split});
  LoaderOptions loading{.fields = InBytes(flags.recipe), .batch_size = flags.batch_size};
  loading.resume = flags.token;
  Loader loader(dataset, loading);
  const Batch batch = BatchBehind(loader);
  const auto picture = std::ranges::find(batch.arrays(), std::string("image"), &ArraySpec::name);
  const auto* pixels = batch.Data<uint8_t>("image");
  const auto* labels = batch.Data<int64_t>("label");
  std::vector<pack::SheetCell> cells;
  for (uint32_t i = 0; i < batch.size(); ++i) {
    cells.push_back({ToImage(*picture, pixels + i * picture->sample_bytes),
                     format("{} {}", LabelName(labels[i], dataset.class_names()), batch.ids()[i])});
  }
  return pack::DrawCells(cells, options);
}

}  // namespace recpack::tool
