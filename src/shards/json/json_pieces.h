// Incremental JSON parser for large files.
#pragma once

#include <functional>
#include <istream>
#include <memory>
#include <span>
#include <streambuf>
#include <string>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"
#include "src/shards/json/json.h"

namespace recpack {

// Stream buffer that reads a file. Throws the file's errors.
class FileStreamBuf final : public std::streambuf {
 public:
  explicit FileStreamBuf(std::unique_ptr<ReadableFile> file) : file_(std::move(file)) {}

 private:
  int_type underflow() override;

  std::unique_ptr<ReadableFile> file_;
  ByteBuffer buffer_ = ByteBuffer(size_t{1} << 16);
  uint64_t offset_ = 0;
};

// Path of a value: the keys from the root to it, "" for an element of a list.
using JsonPath = std::span<const std::string>;

bool IsAt(JsonPath path, std::initializer_list<const char*> keys);  // nullptr: any key

// Called with every complete value. Returns true if it took the value, which is then left out of
// the result. Objects and lists must be taken out of what is as large as a user's data: the parser
// looks at all that is left in it after each. Do not take a scalar out of an object.
using TakeJson = std::function<bool(JsonPath path, ParsedJson& value)>;

// Parses JSON. Throws nlohmann's exceptions, and Error (kCorrupt) for text nested too deeply.
ParsedJson ParseJsonInPieces(std::istream& text, const std::string& path, const TakeJson& take);

// Parses the text and runs `read` on what `take` leaves of it. Throws Error (kCorrupt) for invalid
// JSON or wrong types.
template <typename Read>
auto ReadJsonInPieces(std::istream& text, const std::string& path, const TakeJson& take,
                      Read read) {
  return CatchJson(path, [&] { return read(ParseJsonInPieces(text, path, take)); });
}

}  // namespace recpack
