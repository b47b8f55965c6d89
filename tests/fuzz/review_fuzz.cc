// Fuzzes reviews: each line is a review or a fault with a reason, and tokens consist of token
// bytes. The first byte selects the size of the pieces.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "src/pack/item/text_lines.h"
#include "src/pack/sources/reviews/review_line.h"
#include "src/pack/sources/reviews/review_tokens.h"

namespace {

constexpr size_t kMostLine = 4096;

void ReadTokens(std::string_view text) {
  recpack::pack::ReviewTokens tokens(text);
  while (const auto token = tokens.Next()) {
    if (token->empty()) std::abort();
    for (const char byte : *token) {
      if (!recpack::pack::IsTokenByte(byte) || recpack::pack::LowerCase(byte) != byte) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t piece = data[0] + size_t{1};
  std::span<const uint8_t> bytes(data + 1, size - 1);
  uint64_t next = 0;
  recpack::pack::TextLines lines(kMostLine, [&](const recpack::pack::TextLine& line) {
    if (line.offset < next) std::abort();
    if (line.text.size() > kMostLine) std::abort();
    next = line.offset + line.text.size() + 1;
    recpack::pack::ReviewLine review;
    const recpack::pack::ReviewFault fault = recpack::pack::ParseReview(line.text, review);
    if (recpack::pack::FaultReason(fault) == nullptr) std::abort();
    if (fault == recpack::pack::ReviewFault::kNone &&
        !(review.rating >= 0 && review.rating <= 10)) {
      std::abort();
    }
    ReadTokens(line.text);
  });
  while (!bytes.empty()) {
    lines.Add(bytes.first(std::min(piece, bytes.size())));
    bytes = bytes.subspan(std::min(piece, bytes.size()));
  }
  lines.Finish();
  return 0;
}
