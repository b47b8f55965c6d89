#include "src/pack/sources/reviews/vocabulary.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/base/format.h"
#include "src/pack/sources/reviews/review_tokens.h"

namespace recpack::pack {
namespace {

constexpr std::string_view kNoTokens[] = {"<pad>", "<unk>"};  // by id
static_assert(std::size(kNoTokens) == kFirstToken);

bool IsToken(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char byte) {
    return IsTokenByte(byte) && LowerCase(byte) == byte;
  });
}

// Parses a vocabulary line by line.
class VocabularyFile {
 public:
  VocabularyFile(const std::string& path, TextNumbers& tokens) : path_(path), tokens_(tokens) {}

  void Read() {
    const ByteBuffer bytes = ReadWholeFile(PosixFiles(), path_);
    std::string_view text = AsText(bytes);
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      Take(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (line_ < kFirstToken) {
      throw Error(ErrorKind::kCorrupt, "not a vocabulary: it ends too early", {.path = path_},
                  kAdvice);
    }
  }

 private:
  static constexpr char kAdvice[] = "give the vocabulary.txt of an earlier pack";

  void Take(std::string_view line) {
    const uint64_t id = line_++;
    if (id < kFirstToken) {
      if (line != kNoTokens[id]) Fail(format("'{}' should be {}", line, kNoTokens[id]));
    } else if (!IsToken(line)) {
      Fail(format("not a token: '{}'", line));
    } else if (tokens_.Number(line) != id - kFirstToken) {
      Fail(format("'{}' occurs twice", line));
    }
  }

  [[noreturn]] void Fail(const std::string& why) const {
    throw Error(ErrorKind::kCorrupt, why, {.path = format("{}:{}", path_, line_)}, kAdvice);
  }

  const std::string& path_;
  TextNumbers& tokens_;
  uint64_t line_ = 0;
};

}  // namespace

Vocabulary::Vocabulary(const TextNumbers& tokens, const std::vector<uint64_t>& counts,
                       uint64_t most) {
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) numbers.push_back(i);
  }
  const auto end =
      numbers.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(most, numbers.size()));
  std::partial_sort(numbers.begin(), end, numbers.end(), [&](uint32_t a, uint32_t b) {
    return counts[a] != counts[b] ? counts[a] > counts[b] : tokens[a] < tokens[b];
  });
  std::for_each(numbers.begin(), end, [&](uint32_t number) { tokens_.Number(tokens[number]); });
}

Vocabulary::Vocabulary(const std::string& path) { VocabularyFile(path, tokens_).Read(); }

uint32_t Vocabulary::Id(std::string_view token) const {
  const auto number = tokens_.Find(token);
  return number ? kFirstToken + *number : kUnknownToken;
}

std::string Vocabulary::Text() const {
  std::string text;
  for (const std::string_view name : kNoTokens) text.append(name) += '\n';
  for (size_t i = 0; i < tokens_.size(); ++i) text.append(tokens_[i]) += '\n';
  return text;
}

}  // namespace recpack::pack
