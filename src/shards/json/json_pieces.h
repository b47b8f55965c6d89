// Reads JSON of any length in little memory.
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

// A file as the input of a std::istream. Throws the file's errors.
class FileStreamBuf final : public std::streambuf {
 public:
  explicit FileStreamBuf(std::unique_ptr<ReadableFile> file) : file_(std::move(file)) {}

 private:
  int_type underflow() override;

  std::unique_ptr<ReadableFile> file_;
  ByteBuffer buffer_ = ByteBuffer(size_t{1} << 16);
  uint64_t offset_ = 0;
};

// Where a value stands: the keys from the root to it, "" for an element of a list.
using JsonPath = std::span<const std::string>;

bool IsAt(JsonPath path, std::initializer_list<const char*> keys);  // nullptr: any key

// Called with every value once it is complete. True: it was taken, and is left out of the whole.
using TakeJson = std::function<bool(JsonPath path, Json& value)>;

// As nlohmann's parser, whose exceptions it throws, and Error (kCorrupt) for what is nested too
// deep.
Json ParseJsonInPieces(std::istream& text, const std::string& path, const TakeJson& take);

// Runs `read` on what `take` leaves of the text; whatever is wrong with the text or its types
// becomes kCorrupt.
template <typename Read>
auto ReadJsonInPieces(std::istream& text, const std::string& path, const TakeJson& take,
                      Read read) {
  return CatchJson(path, [&] { return read(ParseJsonInPieces(text, path, take)); });
}

}  // namespace recpack
