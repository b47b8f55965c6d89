// Paragraphs of a terminal.
#pragma once

#include <string>

namespace recpack {

// A paragraph behind a mark, broken at blanks to 100 columns.
std::string Wrapped(const std::string& mark, const std::string& text);

}  // namespace recpack
