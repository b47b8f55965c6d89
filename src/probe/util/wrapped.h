// Paragraphs of a terminal.
#pragma once

#include <string>

namespace recpack::probe {

// With '?' in place of control characters: what programs and files say may hold what a terminal
// obeys.
std::string Printable(std::string text);

// A paragraph behind a mark, printable, broken at blanks to 100 columns.
std::string Wrapped(const std::string& mark, const std::string& text);

}  // namespace recpack::probe
