// Source for CIFAR-10 and CIFAR-100 in their published formats.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "recpack/base/file.h"
#include "src/pack/item/source.h"

namespace recpack::pack {

enum class CifarDataset : uint8_t { kAuto, kCifar10, kCifar100 };

struct CifarOptions {
  // The official archive (.tar.gz or .tar, Python or binary version), its extracted folder, or a
  // folder that holds one of these. If there are several, the first of: cifar-10-batches-py,
  // cifar-10-batches-bin, cifar-100-python, cifar-100-binary, and then their archives.
  std::string path = {};

  // kAuto: from the file names.
  CifarDataset dataset = CifarDataset::kAuto;

  // Comma-separated names of the splits. Two names: all training batches, and the test batch.
  // Three, for CIFAR-10 only: the second split is the last training batch. Default (empty):
  // "train,validation,eval" = data_batch_1 to 4, data_batch_5, test_batch for CIFAR-10, as in the
  // widespread conversion script; "train,eval" for CIFAR-100.
  std::string splits = {};

  // Not owned; must outlive the source. nullptr: PosixFiles().
  FileSystem* files = nullptr;
};

// Opens a CIFAR data set; batches may have any number of rows. Items are the rows in file order,
// with the features `image` (3072 bytes: 32x32, planar red, green, blue) and `label` (int64, from
// 0). CIFAR-100 has its fine label as `label` and the coarse one as `coarse_label`. Class names
// come from the meta file and are empty if that is missing.
//
// Pickles of protocols 0 to 5 are parsed as data; nothing in them is executed. The pixels must be a
// C-ordered uint8 array of shape (rows, 3072) or (rows, 3, 32, 32).
//
// Memory: a folder's files stay on disk (labels take 8 bytes a row, each reader about 400 KB). An
// archive is unpacked into memory, 184 MB for the published ones; so are pixels that a pickle holds
// in encoded form (protocol 0, and protocol 2 written by Python 3).
//
// Throws Error: kNotFound for a missing path or batch, kCorrupt for damaged or truncated files,
// kUnsupported for arrays of other types or orders and for pickles that would execute something,
// kInvalidArgument for a path without a CIFAR data set and for invalid `splits`. Read() throws
// kCorrupt with the row for a label out of range, and kIo if the file size has changed since it was
// opened.
std::unique_ptr<Source> OpenCifar(const CifarOptions& options);

// Tells whether `path` looks like a CIFAR data set, from the names of files in the folder or of the
// first members of the archive. Never throws: returns false if it cannot be read.
bool LooksLikeCifar(const std::string& path);

}  // namespace recpack::pack
