// Writes JSON a piece at a time, with the bytes that WriteJson() would give the whole.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "recpack/base/file.h"
#include "src/shards/json/json.h"

namespace recpack {

// Begin(), members or elements, End(), nested at will; the text is complete after the last End().
// One thread at a time.
class JsonStream {
 public:
  // Called with the next bytes of the text, about 64 KB at a time.
  using Sink = std::function<void(std::string_view text)>;

  explicit JsonStream(Sink sink) : sink_(std::move(sink)) {}

  void Begin(char bracket);                              // the root, or an element; '{' or '['
  void BeginMember(std::string_view key, char bracket);  // a member that is written in pieces
  void Member(std::string_view key, const Json& value);
  void Element(const Json& value);
  void End();

 private:
  void StartLine();
  void Key(std::string_view key);
  void Value(const Json& value);
  void Open(char bracket);

  Sink sink_;
  std::string text_;      // not yet handed over
  std::string brackets_;  // that are open
  bool empty_ = true;     // nothing is in the innermost one yet
};

// The text that `write` makes.
std::string JsonText(const std::function<void(JsonStream& stream)>& write);

// That text as a file, whole or not at all.
void WriteJsonFile(FileSystem& files, const std::string& path,
                   const std::function<void(JsonStream& stream)>& write, bool durable);

}  // namespace recpack
