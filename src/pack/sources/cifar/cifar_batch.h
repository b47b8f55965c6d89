// Opens one batch file of a CIFAR data set and locates its rows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"
#include "src/pack/sources/cifar/cifar_files.h"
#include "src/pack/sources/cifar/pickle.h"

namespace recpack::pack {

inline constexpr uint64_t kCifarPixels = 3072;  // bytes per image: 32x32, planar RGB

// Immutable and thread-safe once opened.
struct CifarBatch {
  std::string name;
  std::shared_ptr<const ReadableFile> file;
  uint64_t file_bytes = 0;  // when it was opened
  uint64_t rows = 0;

  // Row i begins at first_row + i * row_bytes and ends with its pixels. In the binary version its
  // labels, one byte each, precede the pixels.
  uint64_t first_row = 0;
  uint64_t row_bytes = kCifarPixels;
  ByteView memory;  // data that first_row is an offset into; empty: `file`
  std::shared_ptr<const PickleDocument> document;  // owns decoded pixels, else null

  // For pickles: one label per row in file order. coarse_labels is empty for CIFAR-10.
  std::vector<int64_t> labels;
  std::vector<int64_t> coarse_labels;
};

// Throws as OpenCifar().
CifarBatch OpenPickleBatch(const CifarFile& file, CifarDataset dataset);
CifarBatch OpenBinaryBatch(const CifarFile& file, CifarDataset dataset);

// Fine and coarse class names (coarse is empty for CIFAR-10); empty without a meta file.
struct CifarClasses {
  std::vector<std::string> fine;
  std::vector<std::string> coarse;
};
CifarClasses ReadCifarClasses(const CifarFiles& files);

}  // namespace recpack::pack
