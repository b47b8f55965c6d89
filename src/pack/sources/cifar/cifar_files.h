// The files of a CIFAR data set, in a folder or in an archive.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"
#include "src/pack/sources/cifar/cifar.h"

namespace recpack::pack {

// The files of one published version.
struct CifarLayout {
  CifarDataset dataset;
  bool binary;  // else pickles
  std::string_view folder;
  std::string_view archive;
  std::vector<std::string_view> train;
  std::string_view test;
  std::vector<std::string_view> meta;
};

struct CifarFile {
  std::string name;  // "data_batch_1"
  std::shared_ptr<const ReadableFile> file;
  ByteView memory;  // its content where it was unpacked from an archive, else empty
};

struct CifarFiles {
  const CifarLayout* layout = nullptr;  // lives for ever
  std::string path;                     // the folder or archive that they are in
  std::vector<CifarFile> batches;       // train in order, then test
  std::vector<CifarFile> meta;          // those that are there
};

// Finds and opens them; all batches are there. Errors as OpenCifar().
CifarFiles OpenCifarFiles(FileSystem& files, const std::string& path, CifarDataset dataset);

}  // namespace recpack::pack
