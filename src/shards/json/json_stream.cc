#include "src/shards/json/json_stream.h"

#include <utility>

namespace recpack {
namespace {
constexpr size_t kPiece = size_t{1} << 16;
}

void JsonStream::StartLine() {
  if (brackets_.empty()) return;
  text_ += empty_ ? "\n" : ",\n";
  text_.append(brackets_.size(), ' ');
  empty_ = false;
}

void JsonStream::Key(std::string_view key) {
  StartLine();
  text_ += DumpJson(Json(key)) + ": ";
}

// Line feeds in the dump are never part of a string: those are escaped.
void JsonStream::Value(const Json& value) {
  for (const char c : DumpJson(value)) {
    text_ += c;
    if (c == '\n') text_.append(brackets_.size(), ' ');
  }
  if (text_.size() >= kPiece) sink_(std::exchange(text_, {}));
}

void JsonStream::Open(char bracket) {
  text_ += bracket;
  brackets_ += bracket;
  empty_ = true;
}

void JsonStream::Begin(char bracket) {
  StartLine();
  Open(bracket);
}

void JsonStream::BeginMember(std::string_view key, char bracket) {
  Key(key);
  Open(bracket);
}

void JsonStream::Member(std::string_view key, const Json& value) {
  Key(key);
  Value(value);
}

void JsonStream::Element(const Json& value) {
  StartLine();
  Value(value);
}

void JsonStream::End() {
  const char bracket = brackets_.back();
  brackets_.pop_back();
  if (!empty_) {
    text_ += '\n';
    text_.append(brackets_.size(), ' ');
  }
  text_ += bracket == '{' ? '}' : ']';
  empty_ = false;
  if (brackets_.empty()) sink_(std::exchange(text_, {}) + "\n");
}

std::string JsonText(const std::function<void(JsonStream&)>& write) {
  std::string text;
  JsonStream stream([&](std::string_view piece) { text += piece; });
  write(stream);
  return text;
}

void WriteJsonFile(FileSystem& files, const std::string& path,
                   const std::function<void(JsonStream&)>& write, bool durable) {
  const auto write_file = [&](WritableFile& file) {
    JsonStream stream([&](std::string_view piece) { file.Write(AsBytes(piece)); });
    write(stream);
  };
  WritePiecesAtomically(files, path, write_file, durable);
}

}  // namespace recpack
