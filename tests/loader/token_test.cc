#include "recpack/loader/token.h"

#include <gtest/gtest.h>

#include "recpack/base/error.h"

namespace recpack {
namespace {

const ResumeToken kToken = {.digest = std::string(48, 'a'),
                            .order = {OrderKind::kWindow, 65'536, 64, 2},
                            .seed = ~uint64_t{0},
                            .epoch = ~uint64_t{0},
                            .position = ~uint64_t{0},
                            .substituted = ~uint64_t{0}};

ErrorKind KindOf(const std::string& text) {
  try {
    ParseToken(text);
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::kDevice;  // nothing was thrown
}

TEST(Token, GoesThereAndBackInLessThan200Bytes) {
  // Tokens of a data set, a mixture and a view.
  for (const std::string& digest : {std::string(48, 'a'), "mix" + std::string(48, 'a'),
                                    std::string(48, 'a') + "-" + std::string(12, 'b')}) {
    ResumeToken token = kToken;
    token.digest = digest;
    const std::string text = TokenText(token);
    EXPECT_LT(text.size(), 200u);
    EXPECT_EQ(ParseToken(text), token);
  }
}

TEST(Token, RefusesEveryChangedCharacter) {
  const std::string text = TokenText(kToken);
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == '1' ? '2' : '1';
    if (changed != text) {
      EXPECT_NE(KindOf(changed), ErrorKind::kDevice) << changed;
    }
  }
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_EQ(KindOf(text.substr(0, size)),
              size < 8 ? KindOf(text.substr(0, size)) : ErrorKind::kInvalidArgument);
    EXPECT_NE(KindOf(text.substr(0, size)), ErrorKind::kDevice);
  }
}

TEST(Token, NamesAnotherVersion) {
  std::string text = TokenText(kToken);
  text.replace(0, 8, "recpack2");
  EXPECT_EQ(KindOf(text), ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace recpack
