#include "src/train/onnx/external_values.h"

#include <charconv>
#include <filesystem>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/base/format.h"

namespace recpack::train {

void ExternalLocation::Set(const std::string& key, const std::string& value) {
  if (key == "location") file = value;
  if (key != "offset" && key != "length") return;
  uint64_t number = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (code != std::errc() || end != value.data() + value.size()) {
    throw Error(ErrorKind::kCorrupt,
                format("gives '{}' as the {} of values in another file", value, key));
  }
  if (key == "offset") offset = number;
  if (key == "length") bytes = number;
}

ByteView ExternalValues::Read(const std::string& name, const ExternalLocation& location) {
  const std::filesystem::path file(location.file);
  if (file.empty() || file.has_parent_path() || location.file == "..") {
    throw Error(
        ErrorKind::kCorrupt,
        format("keeps '{}' in the file '{}', which is not in its folder", name, location.file));
  }
  auto [there, is_new] = files_.try_emplace(location.file);
  if (is_new) {
    there->second =
        ReadWholeFile(PosixFiles(), std::filesystem::path(path_).replace_filename(file).string());
  }
  const ByteView all(there->second);
  if (location.offset > all.size() || location.bytes.value_or(0) > all.size() - location.offset) {
    throw Error(ErrorKind::kCorrupt,
                format("needs {} bytes at {} of {}, which has {}", location.bytes.value_or(0),
                       location.offset, location.file, all.size()),
                {}, "copy both files again");
  }
  const ByteView rest = all.subspan(location.offset);
  return location.bytes ? rest.first(*location.bytes) : rest;
}

}  // namespace recpack::train
