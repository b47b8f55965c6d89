#include "src/shards/json/json_pieces.h"

#include <algorithm>

namespace recpack {

FileStreamBuf::int_type FileStreamBuf::underflow() {
  const size_t got = file_->ReadAt(offset_, buffer_);
  if (got == 0) return traits_type::eof();
  offset_ += got;
  char* start = reinterpret_cast<char*>(buffer_.data());
  setg(start, start, start + got);
  return traits_type::to_int_type(*start);
}

bool IsAt(JsonPath path, std::initializer_list<const char*> keys) {
  return std::ranges::equal(path, keys, [](const std::string& there, const char* key) {
    return key == nullptr || there == key;
  });
}

ParsedJson ParseJsonInPieces(std::istream& text, const std::string& path, const TakeJson& take) {
  using Event = ParsedJson::parse_event_t;
  std::vector<std::string> keys;  // keys[d] leads to the value at depth d + 1
  const auto at_event = [&](int depth_of, Event event, ParsedJson& value) {
    RefuseDeepJson(depth_of, path);
    const auto depth = static_cast<size_t>(depth_of);
    if (event == Event::key) {
      keys.resize(depth);
      keys.back() = value.get_ref<const std::string&>();
    } else if (event == Event::object_start || event == Event::array_start) {
      keys.resize(depth + 1);
      keys.back().clear();
    } else {
      return !take(JsonPath(keys).first(depth), value);
    }
    return true;
  };
  return ParsedJson::parse(text, at_event);
}

}  // namespace recpack
