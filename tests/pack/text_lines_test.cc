#include "src/pack/item/text_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace recpack::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Seen {
  std::string text;
  uint64_t number = 0;
  uint64_t offset = 0;
  bool too_long = false;
  bool operator==(const Seen&) const = default;
};

// Feeds the text in pieces of the given size.
std::vector<Seen> LinesOf(std::string_view text, size_t piece, size_t most = 100) {
  std::vector<Seen> seen;
  TextLines lines(most, [&](const TextLine& line) {
    seen.push_back({std::string(line.text), line.number, line.offset, line.too_long});
  });
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    lines.Add(AsBytes(text.substr(0, piece)));
  }
  lines.Finish();
  return seen;
}

TEST(TextLinesTest, LinesAreTheSameHoweverTheBytesCome) {
  const std::vector<Seen> expected = {
      {"ab", 1, 0, false}, {"", 2, 3, false}, {"c\r", 3, 4, false}, {"long one", 4, 7, false}};
  for (size_t piece = 1; piece < 20; ++piece) {
    EXPECT_EQ(LinesOf("ab\n\nc\r\nlong one", piece), expected) << piece;
    EXPECT_EQ(LinesOf("ab\n\nc\r\nlong one\n", piece), expected) << piece;
  }
}

TEST(TextLinesTest, ALineThatIsTooLongIsCutAndTheNextOneIsWhole) {
  for (size_t piece = 1; piece < 20; ++piece) {
    EXPECT_THAT(
        LinesOf("abcd\nabcde\nx", piece, 4),
        ElementsAre(Seen{"abcd", 1, 0, false}, Seen{"abcd", 2, 5, true}, Seen{"x", 3, 11, false}))
        << piece;
  }
}

TEST(TextLinesTest, NothingHasNoLines) { EXPECT_THAT(LinesOf("", 1), IsEmpty()); }

}  // namespace
}  // namespace recpack::pack
