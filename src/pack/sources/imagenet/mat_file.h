// Reads what is needed of MATLAB's level 5 MAT-files ("MAT-File Format", The MathWorks, version 5).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recpack/base/bytes.h"

namespace recpack::pack {

// One field of one element: a text, numbers, or neither where it is of another class.
struct MatCell {
  std::string text;
  std::vector<double> numbers;
};

struct MatStruct {
  std::vector<std::string> fields;
  size_t elements = 0;
  std::vector<MatCell> cells;  // elements x fields

  // The place of a field; throws Error (kCorrupt) if there is none of that name.
  size_t FieldIndex(std::string_view field) const;
  const MatCell& Cell(size_t element, size_t field) const {
    return cells[element * fields.size() + field];
  }
};

// The structure array called `variable`. Compressed variables may inflate to 64 MiB. Throws Error
// without a path: kCorrupt, kUnsupported for other versions and byte orders, kNotFound where there
// is no such variable.
MatStruct ReadMatStruct(ByteView file, std::string_view variable);

}  // namespace recpack::pack
