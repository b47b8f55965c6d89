// Incremental JSON writer; its output equals that of WriteJson() for the whole.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "recpack/base/file.h"
#include "src/shards/json/json.h"

namespace recpack {

// Call Begin(), members or elements, and End(), nested as needed; the text is complete after the
// last End(). Not thread-safe.
class JsonStream {
 public:
  // Called with the next bytes of the text, about 64 KB at a time.
  using Sink = std::function<void(std::string_view text)>;

  explicit JsonStream(Sink sink) : sink_(std::move(sink)) {}

  void Begin(char bracket);  // begins the root or an element; '{' or '['
  void BeginMember(std::string_view key, char bracket);  // begins a member written in pieces
  void Member(std::string_view key, const Json& value);
  void Element(const Json& value);
  void End();

 private:
  void StartLine();
  void Key(std::string_view key);
  void Value(const Json& value);
  void Open(char bracket);

  Sink sink_;
  std::string text_;      // not yet given to the sink
  std::string brackets_;  // open brackets
  bool empty_ = true;     // the innermost bracket has no content yet
};

// Returns the text written by `write`.
std::string JsonText(const std::function<void(JsonStream& stream)>& write);

// Writes that text to a file atomically.
void WriteJsonFile(FileSystem& files, const std::string& path,
                   const std::function<void(JsonStream& stream)>& write, bool durable);

}  // namespace recpack
