// A contact sheet: some records of a split as pictures with their classes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recpack/example/view.h"
#include "recpack/image/image.h"
#include "src/shards/layout/layout.h"

namespace recpack::pack {

struct SheetOptions {
  int columns = 10;
  int rows = 6;
  int cell = 96;      // pixels of a picture's longer side, at most
  uint64_t seed = 0;  // which records: a function of seed and split size
  // Channels, height and width of pictures that are stored as raw planar bytes; all 0: 3x32x32
  // where the bytes are 3072.
  std::array<int, 3> raw_shape = {};
};

// A picture of three channels and what is written under it; none: a grey cell.
struct SheetCell {
  std::optional<Image> picture;
  std::string label;
};

// All cells, row by row; options.rows is not looked at. Throws Error (kInvalidArgument) for none,
// or too many.
Image DrawCells(std::span<const SheetCell> cells, const SheetOptions& options);

// Ordinals of the records that a sheet shows, ascending: a function of the options and their
// number.
std::vector<uint64_t> RecordsOfSheet(uint64_t records, const SheetOptions& options);

// A record as DrawSheet() shows it, of at most options.cell pixels.
SheetCell CellOf(const ExampleView& record, const std::vector<std::string>& class_names,
                 const SheetOptions& options);

// Pictures are the feature image/encoded, or image, or the first bytes feature that holds a JPEG or
// a PNG; raw planar pixels are shown, too. Labels are image/class/text, the class name of
// image/class/label or label, or the number. A record without a picture gives a grey cell. Throws
// Error (kNotFound) where none has one.
Image DrawSheet(const Layout& layout, const LayoutSplit& split, const SheetOptions& options);

}  // namespace recpack::pack
