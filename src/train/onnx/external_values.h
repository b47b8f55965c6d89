// Reads values of an ONNX file that lie in other files ("external data").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "recpack/base/bytes.h"

namespace recpack::train {

// Where the values of one tensor lie.
struct ExternalLocation {
  std::string file;
  uint64_t offset = 0;
  std::optional<uint64_t> bytes;  // to the end of the file unless set

  // Sets one entry of TensorProto.external_data; others than location, offset and length are
  // ignored. Throws Error (kCorrupt) for text that is no number.
  void Set(const std::string& key, const std::string& value);
};

// Keeps the files that were read. One thread at a time.
class ExternalValues {
 public:
  // `path`: of the ONNX file, beside which the others lie.
  explicit ExternalValues(std::string path) : path_(std::move(path)) {}

  // The bytes of the tensor `name`, valid as long as this object. Throws Error: kNotFound, kIo;
  // kCorrupt for a place that is not in the folder, or beyond the end of the file.
  ByteView Read(const std::string& name, const ExternalLocation& location);

 private:
  const std::string path_;
  std::map<std::string, ByteBuffer> files_;
};

}  // namespace recpack::train
