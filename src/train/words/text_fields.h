// Fields of a line of text: words and numbers between blanks.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace recpack::train {

// Whether fields end there: a blank, a tab or a carriage return.
bool IsBlank(char byte);
// Without the blanks at its end.
std::string_view WithoutBlanks(std::string_view line);
// Takes the last field off `line`; empty: there is none.
std::string_view TakeLastField(std::string_view& line);
size_t CountFields(std::string_view line);
// Parses all of `text`, which may be a NaN or an infinity; what is too small for a float is 0.
std::optional<float> ParseFloat(std::string_view text);
// Text has no control characters, and no bytes that are not UTF-8 but for a character cut at the
// end.
bool LooksLikeText(std::string_view bytes);

}  // namespace recpack::train
