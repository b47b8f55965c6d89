#include "src/pack/sources/reviews/review_files.h"

#include <algorithm>
#include <optional>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/pack/item/text_lines.h"
#include "src/pack/sources/reviews/review_line.h"
#include "src/pack/sources/reviews/reviews.h"
#include "src/shards/files/path_pattern.h"

namespace recpack::pack {
namespace {

constexpr size_t kMostFirstLine = size_t{1} << 20;  // bytes read to recognise a file

bool HasReviewsName(std::string_view name) {
  for (const std::string_view packed : {".gz", ".zst", ".xz", ".bz2"}) {
    if (name.ends_with(packed)) {
      name.remove_suffix(packed.size());
      break;
    }
  }
  return name.ends_with(".json") || name.ends_with(".jsonl") || name.ends_with(".ndjson");
}

// Thrown to stop reading after the first line.
struct Enough {};

bool BeginsWithReview(const ReadableFile& file) {
  std::optional<bool> verdict;
  TextLines lines(kMostFirstLine, [&](const TextLine& line) {
    ReviewLine review;
    if (!verdict) verdict = ParseReview(line.text, review) == ReviewFault::kNone;
  });
  uint64_t bytes = 0;
  try {
    ReadPieces(file, [&](ByteView piece) {
      lines.Add(piece);
      bytes += piece.size();
      if (verdict || bytes > kMostFirstLine) throw Enough();
    });
    lines.Finish();
  } catch (const Enough&) {
  }
  return verdict.value_or(false);
}

}  // namespace

std::vector<ReviewFile> FindReviewFiles(const std::string& path) {
  std::vector<ReviewFile> files;
  const auto add = [&](const std::string& file) {
    files.push_back({.path = file, .name = file.substr(file.rfind('/') + 1)});  // npos + 1 is 0
  };
  for (const std::string& name : ExpandPathPattern(path)) {
    if (IsFolder(name)) {
      std::ranges::for_each(FilesInFolder(name, HasReviewsName), add);
    } else {
      add(name);
    }
  }
  if (!files.empty()) return files;
  throw Error(ErrorKind::kNotFound, "holds no .json, .jsonl or .ndjson files", {.path = path});
}

bool LooksLikeReviews(const std::string& path) {
  if (!HasReviewsName(path) || !IsFile(path)) return false;
  try {
    return BeginsWithReview(*PosixFiles().OpenForReading(path));
  } catch (const Error&) {  // opening the file will report the error
    return false;
  }
}

}  // namespace recpack::pack
