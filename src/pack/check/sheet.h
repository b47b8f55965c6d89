// Draws contact sheets: records of a split as pictures with their classes.
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
  int cell = 96;      // maximum length of a picture's longer side [pixels]
  uint64_t seed = 0;  // selects the records, together with the number of records in the split
  // Channels, height and width of raw planar pictures. All 0: 3x32x32 for pictures of 3072 bytes.
  std::array<int, 3> raw_shape = {};
};

// A picture of three channels and its label; without a picture a grey cell is drawn.
struct SheetCell {
  std::optional<Image> picture;
  std::string label;
};

// Draws all cells row by row; ignores options.rows. Throws Error (kInvalidArgument) for no cells or
// too many.
Image DrawCells(std::span<const SheetCell> cells, const SheetOptions& options);

// Returns the ordinals of the records on the sheet, ascending; they depend only on the arguments.
std::vector<uint64_t> PickSheetRecords(uint64_t records, const SheetOptions& options);

// Makes the cell of a record as in DrawSheet(), at most options.cell pixels large.
SheetCell MakeSheetCell(const ExampleView& record, const std::vector<std::string>& class_names,
                        const SheetOptions& options);

// Draws a sheet of the split. The picture of a record is the feature image/encoded, or image, or
// the first bytes feature with an image; raw planar pixels are shown, too. Its label is
// image/class/text, the class name of image/class/label or label, or the number. A record without a
// picture gets a grey cell. Throws Error (kNotFound) if no record has a picture.
Image DrawSheet(const Layout& layout, const LayoutSplit& split, const SheetOptions& options);

}  // namespace recpack::pack
