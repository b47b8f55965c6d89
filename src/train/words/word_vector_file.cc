#include "src/train/words/word_vector_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/base/parse_units.h"
#include "src/train/words/byte_stream.h"
#include "src/train/words/text_fields.h"

namespace recpack::train {
namespace {

constexpr size_t kBuffer = size_t{1} << 20;
constexpr size_t kMostWord = size_t{1} << 16;  // bytes
constexpr char kForms[] = "give a file in word2vec's text or binary form, or in GloVe's";
constexpr char kAgain[] = "fetch or write the file again";

class VectorReader {
 public:
  VectorReader(const ReadableFile& file, const WordTableRows& table)
      : path_(file.path()),
        table_(table),
        dims_(static_cast<size_t>(table.dims)),
        stream_(file, kBuffer + 64 * dims_),  // a line, or a word with its vector
        taken_(table.rows) {}

  WordVectorFile Read() {
    RefuseCompressed();
    found_.vectors.dims = table_.dims;
    const std::string_view first = PeekLine().text;
    std::string_view rest = first;
    const auto dims = WholeNumber(TakeLastField(rest)), words = WholeNumber(TakeLastField(rest));
    if (dims && words && WithoutBlanks(rest).empty()) {
      RequireDims(*dims);
      SkipLine();
      ReadCounted(*words);
    } else {
      RequireDims(CountVector(first));
      while (!stream_.Peek(1).empty()) TakeLine();
    }
    return std::move(found_);
  }

 private:
  struct Line {
    std::string_view text;
    bool ended = false;  // by a line feed
  };

  // Valid until the stream is read on.
  Line PeekLine() {
    // What is longer than this is no line of the file.
    for (size_t size = std::min<size_t>(4096, stream_.capacity());; size *= 4) {
      size = std::min(size, stream_.capacity());
      const std::string_view bytes = stream_.Peek(size);
      const size_t end = bytes.find('\n');
      if (end != std::string_view::npos) return {bytes.substr(0, end), true};
      if (bytes.size() < size) return {bytes, false};
      if (size == stream_.capacity()) {
        Fail(format("line {} is longer than {}", line_, BytesText(uint64_t{size})), kForms);
      }
    }
  }
  void SkipLine() {
    const Line line = PeekLine();
    stream_.Skip(line.text.size() + (line.ended ? 1 : 0));
    ++line_;
  }

  void RefuseCompressed() {
    const std::string_view begin = stream_.Peek(4);
    const auto is = [&](std::string_view mark) { return begin.starts_with(mark); };
    if (begin.empty()) Fail("the file of word vectors is empty", kForms);
    if (!is("\x1f\x8b") && !is("PK\x03\x04") && !is("\x28\xb5\x2f\xfd") && !is("BZh")) return;
    throw Error(ErrorKind::kUnsupported, "the file of word vectors is compressed", {.path = path_},
                "unpack it first, for example with gunzip or unzip");
  }

  // The values of GloVe's first line.
  uint64_t CountVector(std::string_view line) {
    const size_t fields = CountFields(line);
    std::string_view rest = line;
    for (size_t i = 1; i < fields; ++i) {
      if (ParseFloat(TakeLastField(rest))) continue;
      Fail("not word vectors: the first line is not a word and its values", kForms);
    }
    if (fields < 2 || !LooksLikeText(line)) {
      Fail("not word vectors: the first line is not a word and its values", kForms);
    }
    return fields - 1;
  }

  void RequireDims(uint64_t dims) const {
    if (dims == dims_) return;
    throw Error(ErrorKind::kInvalidArgument,
                format("its vectors have {} values, and the model's have {}", dims, dims_),
                {.path = path_}, format("give --dims {}, or another file", dims));
  }

  void ReadCounted(uint64_t words) {
    const bool text = IsTextForm();
    for (uint64_t word = 0; word < words; ++word) {
      SkipLineFeed(text);
      if (stream_.Peek(1).empty()) {
        Fail(format("ends after {} of {} words", CountText(word), CountText(words)), kAgain);
      }
      text ? TakeLine() : TakeBinary();
    }
    while (!stream_.Peek(1).empty()) {
      const char byte = stream_.Peek(1)[0];
      if (byte != '\n' && !IsBlank(byte)) {
        Fail(format("goes on after its {} words", CountText(words)), kAgain);
      }
      stream_.Skip(1);
    }
  }

  bool IsTextForm() {
    const std::string_view bytes = stream_.Peek(kMostWord);
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    std::string_view rest = line;
    bool numbers = CountFields(line) > dims_;
    for (size_t i = 0; i < dims_ && numbers; ++i)
      numbers = ParseFloat(TakeLastField(rest)).has_value();
    if (numbers) return true;
    const size_t space = bytes.find(' ');
    return space != std::string_view::npos &&
           LooksLikeText(bytes.substr(space, 1 + dims_ * sizeof(float)));
  }

  // word2vec's program ends each vector with one, others do not.
  void SkipLineFeed(bool text) {
    if (!text && stream_.Peek(1) == "\n") stream_.Skip(1);
  }

  void TakeLine() {
    const Line line = PeekLine();
    const size_t fields = CountFields(line.text);
    if (fields < dims_ + 1) {
      Fail(format("line {} has {} values, and the first one has {}{}", line_,
                  fields == 0 ? 0 : fields - 1, dims_, line.ended ? "" : ": the file is cut"),
           kAgain);
    }
    if (!line.ended) {
      Fail(format("line {} has no end: the file is cut", line_),
           format("{}, or end its last line if that is complete", kAgain));
    }
    // A word of GloVe may have blanks; no token has.
    const size_t end = std::min(line.text.find_first_of(" \t"), line.text.size());
    const std::string_view word = line.text.substr(0, end);
    if (float* const to = fields == dims_ + 1 ? Vector(word) : nullptr) {
      std::string_view rest = line.text;
      for (size_t i = dims_; i-- > 0;) {
        const std::string_view field = TakeLastField(rest);
        to[i] = Finite(word, ParseFloat(field), field);
      }
    }
    SkipLine();
    ++found_.words;
  }

  void TakeBinary() {
    const size_t bytes = dims_ * sizeof(float);
    const std::string_view begin = stream_.Peek(kMostWord);
    const size_t space = begin.find(' ');
    if (space == std::string_view::npos) {
      Fail(format("word {} has no end", CountText(found_.words + 1)), kAgain);
    }
    const std::string_view all = stream_.Peek(space + 1 + bytes);
    if (all.size() < space + 1 + bytes) {
      Fail(format("ends in the vector of word {}", CountText(found_.words + 1)), kAgain);
    }
    const std::string_view word = all.substr(0, space);
    if (float* const to = Vector(word)) {
      std::memcpy(to, all.data() + space + 1, bytes);
      for (size_t i = 0; i < dims_; ++i) Finite(word, to[i], "");
    }
    stream_.Skip(space + 1 + bytes);
    ++found_.words;
  }

  // Where the vector of `word` belongs; null: the table has no such word, or has its vector.
  float* Vector(std::string_view word) {
    const uint32_t row = table_.row_of(word);
    if (row == 0 || row >= taken_.size() || taken_[row]) return nullptr;
    taken_[row] = true;
    WordVectors& vectors = found_.vectors;
    // At most what the table itself takes; memory that is not written to is not taken.
    if (vectors.values.empty()) vectors.values.reserve(taken_.size() * dims_);
    vectors.rows.push_back(row);
    vectors.values.resize(vectors.values.size() + dims_);
    return vectors.values.data() + vectors.values.size() - dims_;
  }

  float Finite(std::string_view word, std::optional<float> value, std::string_view text) const {
    if (value && std::isfinite(*value)) return *value;
    Fail(format("the vector of '{}' has a value that is not a number{}", word,
                text.empty() ? "" : format(": '{}'", text.substr(0, 40))),
         kAgain);
  }

  [[noreturn]] void Fail(const std::string& why, const std::string& advice) const {
    throw Error(ErrorKind::kCorrupt, why, {.path = path_, .offset = stream_.offset()}, advice);
  }

  const std::string& path_;
  const WordTableRows& table_;
  const size_t dims_;
  ByteStream stream_;
  std::vector<bool> taken_;
  uint64_t line_ = 1;
  WordVectorFile found_;
};

}  // namespace

WordVectorFile ReadWordVectors(const ReadableFile& file, const WordTableRows& table) {
  return VectorReader(file, table).Read();
}

}  // namespace recpack::train
