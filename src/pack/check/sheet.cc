#include "src/pack/check/sheet.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "recpack/base/error.h"
#include "recpack/base/permutation.h"
#include "recpack/example/view.h"
#include "recpack/image/channels.h"
#include "recpack/image/decode.h"
#include "recpack/image/resize.h"
#include "src/base/format.h"
#include "src/pack/check/bitmap_font.h"
#include "src/pack/item/pixels.h"
#include "src/shards/index/pick.h"

namespace recpack::pack {
namespace {

constexpr int kGap = 6;
constexpr int kLabelHeight = kLetterHeight + 4;
constexpr uint32_t kPickStream = 0x73686565;  // "shee"
constexpr uint8_t kPaper = 250;
constexpr uint8_t kNothing = 200;
constexpr uint8_t kInk = 30;

// Converts planar pixels to interleaved ones, and one channel to three.
std::optional<Image> FromRaw(ByteView bytes, std::array<int, 3> shape) {
  if (shape[0] == 0 && bytes.size() == 3072) shape = {3, 32, 32};
  const auto [channels, height, width] = shape;
  const size_t plane = static_cast<size_t>(height) * static_cast<size_t>(width);
  if ((channels != 1 && channels != 3) || bytes.size() != plane * static_cast<size_t>(channels))
    return {};
  Image image;
  image.Reshape(width, height, 3);
  for (size_t i = 0; i < plane; ++i) {
    for (size_t c = 0; c < 3; ++c) {
      image.pixels[i * 3 + c] = bytes[(channels == 1 ? 0 : c) * plane + i];
    }
  }
  return image;
}

std::optional<Image> FromFeature(const ExampleView& view, const FeatureView& feature,
                                 const SheetOptions& options) {
  if (const auto pixels = FindPixels(view, feature)) {
    Image image;
    ConvertChannels(*pixels, 3, image);
    return image;
  }
  const ByteView bytes = feature.bytes_values()[0];
  if (auto raw = FromRaw(bytes, options.raw_shape)) return raw;
  try {
    return DecodeImage(bytes);
  } catch (const Error&) {  // a broken picture is shown as a grey cell
    return {};
  }
}

std::optional<Image> FindPicture(const ExampleView& view, const SheetOptions& options) {
  for (const char* name : {"image/encoded", "image"}) {
    const FeatureView* feature = view.Find(name);
    if (feature != nullptr && !feature->bytes_values().empty()) {
      return FromFeature(view, *feature, options);
    }
  }
  for (const FeatureView& feature : view) {
    if (feature.bytes_values().empty()) continue;
    if (auto picture = FromFeature(view, feature, options)) return picture;
  }
  return {};
}

std::string MakeLabel(const ExampleView& view, const std::vector<std::string>& class_names) {
  if (const FeatureView* text = view.Find("image/class/text");
      text && text->bytes_values().size() == 1) {
    return std::string(AsText(text->bytes_values()[0]));
  }
  for (const char* name : {"image/class/label", "label", "cls"}) {
    const FeatureView* feature = view.Find(name);
    if (feature == nullptr || feature->int64_values().empty()) continue;
    const int64_t label = feature->int64_values()[0];
    const bool named = label >= 0 && static_cast<size_t>(label) < class_names.size();
    return named ? class_names[static_cast<size_t>(label)] : std::to_string(label);
  }
  return "";
}

class Canvas {
 public:
  Canvas(int width, int height) {
    image_.Reshape(width, height, 3);
    std::ranges::fill(image_.pixels, kPaper);
  }

  void Fill(int x, int y, int width, int height, uint8_t grey) {
    for (int row = y; row < y + height; ++row) {
      std::fill_n(image_.row(row) + x * 3, width * 3, grey);
    }
  }

  void Draw(const Image& picture, int x, int y) {
    for (int row = 0; row < picture.height; ++row) {
      std::copy_n(picture.row(row), picture.row_bytes(), image_.row(y + row) + x * 3);
    }
  }

  // Draws the text centred in `width` pixels, truncated if it is longer.
  void Write(std::string text, int x, int y, int width) {
    text.resize(std::min(text.size(), static_cast<size_t>(width / kLetterAdvance)));
    x += (width - static_cast<int>(text.size()) * kLetterAdvance + 1) / 2;
    for (const char letter : text) {
      for (int column = 0; column < kLetterWidth; ++column) {
        for (int row = 0; row < kLetterHeight; ++row) {
          if (LetterColumns(letter)[static_cast<size_t>(column)] >> row & 1) {
            Fill(x + column, y + row, 1, 1, kInk);
          }
        }
      }
      x += kLetterAdvance;
    }
  }

  Image Take() { return std::move(image_); }

 private:
  Image image_;
};

// Fits a picture into `cell` pixels; small ones are enlarged by an integer factor to stay sharp.
Image Fit(const Image& picture, int cell) {
  const int longer = std::max(picture.width, picture.height);
  if (longer <= cell) {
    const int factor = std::max(1, cell / longer);
    Image large;
    large.Reshape(picture.width * factor, picture.height * factor, 3);
    for (int y = 0; y < large.height; ++y) {
      for (int x = 0; x < large.width; ++x) {
        std::copy_n(picture.row(y / factor) + x / factor * 3, 3, large.row(y) + x * 3);
      }
    }
    return large;
  }
  const auto scaled = [&](int side) { return std::max(1, side * cell / longer); };
  return Resize(picture, {.width = scaled(picture.width), .height = scaled(picture.height)});
}

void DrawCell(Canvas& canvas, const std::optional<Image>& picture, const std::string& label, int x,
              int y, int cell) {
  if (picture) {
    const Image fitted = Fit(*picture, cell);
    canvas.Draw(fitted, x + (cell - fitted.width) / 2, y + (cell - fitted.height) / 2);
  } else {
    canvas.Fill(x, y, cell, cell, kNothing);
  }
  canvas.Write(label, x, y + cell + 3, cell);
}

void Check(int columns, int rows, int cell) {
  constexpr int kMostCells = 10'000;
  if (columns < 1 || rows < 1 || columns > kMostCells || rows > kMostCells / columns || cell < 8 ||
      cell > 1024) {
    throw Error(ErrorKind::kInvalidArgument,
                format("a sheet has 1 to {} cells of 8 to 1024 pixels", kMostCells));
  }
}

}  // namespace

Image DrawCells(std::span<const SheetCell> cells, const SheetOptions& options) {
  const int count = static_cast<int>(cells.size());
  const int rows = options.columns < 1 ? 0 : (count + options.columns - 1) / options.columns;
  Check(options.columns, rows, options.cell);
  const int wide = options.cell + kGap, high = options.cell + kLabelHeight + kGap;
  Canvas canvas(options.columns * wide + kGap, rows * high + kGap);
  for (int i = 0; i < count; ++i) {
    DrawCell(canvas, cells[i].picture, cells[i].label, kGap + i % options.columns * wide,
             kGap + i / options.columns * high, options.cell);
  }
  return canvas.Take();
}

std::vector<uint64_t> PickSheetRecords(uint64_t records, const SheetOptions& options) {
  Check(options.columns, options.rows, options.cell);
  const KeyedPermutation permutation(options.seed, kPickStream, records);
  std::vector<uint64_t> picked(std::min(
      records, static_cast<uint64_t>(options.columns) * static_cast<uint64_t>(options.rows)));
  for (uint64_t i = 0; i < picked.size(); ++i) picked[i] = permutation(i);
  std::ranges::sort(picked);
  return picked;
}

SheetCell MakeSheetCell(const ExampleView& record, const std::vector<std::string>& class_names,
                        const SheetOptions& options) {
  SheetCell cell{FindPicture(record, options), MakeLabel(record, class_names)};
  if (cell.picture) cell.picture = Fit(*cell.picture, options.cell);  // saves memory
  return cell;
}

Image DrawSheet(const Layout& layout, const LayoutSplit& split, const SheetOptions& options) {
  Check(options.columns, options.rows, options.cell);
  const Index index = OpenSplitIndex(split);
  const auto picked = PickSheetRecords(index.record_count(), options);
  const std::vector<std::string> names =
      layout.manifest ? layout.manifest->class_names : std::vector<std::string>();
  std::vector<SheetCell> cells;
  ExampleView view;
  VisitRecords(split, index, picked, [&](uint64_t, ByteView payload) {
    view.Parse(payload);
    cells.push_back(MakeSheetCell(view, names, options));
  });
  const auto has_picture = [](const SheetCell& cell) { return cell.picture.has_value(); };
  if (!std::ranges::any_of(cells, has_picture)) {
    throw Error(ErrorKind::kNotFound,
                format("no record of the split '{}' holds a picture", split.name),
                {.path = layout.folder}, "raw planar pixels need their shape: --shape 3x32x32");
  }
  return DrawCells(cells, options);
}

}  // namespace recpack::pack
