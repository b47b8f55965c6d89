// Reads structure arrays from MAT-files of level 5 ("MAT-File Format", The MathWorks, version 5).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recpack/base/bytes.h"

namespace recpack::pack {

// One field of one element: text or numbers; both are empty for other classes.
struct MatCell {
  std::string text;
  std::vector<double> numbers;
};

struct MatStruct {
  std::vector<std::string> fields;
  size_t elements = 0;
  std::vector<MatCell> cells;  // elements x fields

  // Returns the index of a field; throws Error (kCorrupt) if it does not exist.
  size_t FieldIndex(std::string_view field) const;
  const MatCell& Cell(size_t element, size_t field) const {
    return cells[element * fields.size() + field];
  }
};

// Reads the structure array `variable`. Compressed variables may inflate to 64 MiB. Throws Error
// without a path: kCorrupt, kUnsupported for other versions and byte orders, kNotFound if the
// variable does not exist.
MatStruct ReadMatStruct(ByteView file, std::string_view variable);

}  // namespace recpack::pack
