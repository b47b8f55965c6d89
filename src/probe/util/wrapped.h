// Formats text for a terminal.
#pragma once

#include <string>

namespace recpack::probe {

// Replaces control characters by '?', so that text from programs and files cannot send escape
// sequences to the terminal.
std::string Printable(std::string text);

// Returns `mark` followed by the printable text, wrapped at blanks to 100 columns and indented by
// the mark's width.
std::string Wrapped(const std::string& mark, const std::string& text);

}  // namespace recpack::probe
