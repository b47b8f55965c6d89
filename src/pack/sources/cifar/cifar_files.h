// Finds the files of a CIFAR data set in a folder or archive.
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

// File names of one published version.
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
  ByteView memory;  // content if it was unpacked from an archive, else empty
};

struct CifarFiles {
  const CifarLayout* layout = nullptr;  // static
  std::string path;                     // folder or archive that holds the files
  std::vector<CifarFile> batches;       // train in order, then test
  std::vector<CifarFile> meta;          // those that exist
};

// Finds and opens the files; all batches must exist. Throws as OpenCifar().
CifarFiles OpenCifarFiles(FileSystem& files, const std::string& path, CifarDataset dataset);

}  // namespace recpack::pack
