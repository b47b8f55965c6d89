#include "src/shards/json/json_stream.h"

#include <gtest/gtest.h>

#include <sstream>

#include "recpack/base/error.h"
#include "src/shards/json/json_pieces.h"

namespace recpack {
namespace {

TEST(JsonStreamTest, WritesTheBytesOfTheWhole) {
  const Json row = {{"a", 1}, {"b", {1.5, nullptr, "x\ny\xff"}}, {"c", Json::object()}};
  const Json whole = {{"one", row},      {"rows", {row, 7, row}}, {"none", Json::array()},
                      {"deep", {{row}}}, {"\"", Json::object()},  {"last", "\n"}};
  const std::string text = JsonText([&](JsonStream& stream) {
    stream.Begin('{');
    stream.Member("one", row);
    stream.BeginMember("rows", '[');
    stream.Element(row);
    stream.Element(7);
    stream.Element(row);
    stream.End();
    stream.BeginMember("none", '[');
    stream.End();
    stream.BeginMember("deep", '[');
    stream.Begin('[');
    stream.Element(row);
    stream.End();
    stream.End();
    stream.BeginMember("\"", '{');
    stream.End();
    stream.Member("last", "\n");
    stream.End();
  });
  EXPECT_EQ(text, WriteJson(whole));
}

TEST(JsonStreamTest, HandsLongTextOverInPieces) {
  size_t longest = 0;
  std::string text;
  JsonStream stream([&](std::string_view piece) {
    longest = std::max(longest, piece.size());
    text += piece;
  });
  Json whole = Json::array();
  stream.Begin('[');
  for (int i = 0; i < 100'000; ++i) {
    stream.Element(i);
    whole.push_back(i);
  }
  stream.End();
  EXPECT_LT(longest, 100'000u);
  EXPECT_EQ(text, WriteJson(whole));
}

TEST(JsonPiecesTest, TakesElementsOutOfTheWhole) {
  std::istringstream text(
      R"({"v": 1, "s": {"x": {"l": [{"l": [0]}, 2, [3]], "n": 5}, "y": {"l": []}}, "l": [6]})");
  std::vector<std::string> taken;
  const ParsedJson rest =
      ParseJsonInPieces(text, "text.json", [&](JsonPath path, const ParsedJson& value) {
        if (!IsAt(path, {"s", nullptr, "l", ""})) return false;
        taken.push_back(path[1] + value.dump());
        return true;
      });
  EXPECT_EQ(taken, (std::vector<std::string>{R"(x{"l":[0]})", "x2", "x[3]"}));
  EXPECT_EQ(rest.dump(), R"({"l":[6],"s":{"x":{"l":[],"n":5},"y":{"l":[]}},"v":1})");
}

}  // namespace
}  // namespace recpack
