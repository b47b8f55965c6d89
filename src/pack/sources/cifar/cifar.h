// CIFAR-10 and CIFAR-100, as they are published, as a source of items.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "recpack/base/file.h"
#include "src/pack/item/source.h"

namespace recpack::pack {

enum class CifarDataset : uint8_t { kAuto, kCifar10, kCifar100 };

struct CifarOptions {
  // The official archive (.tar.gz or .tar, python or binary version), its extracted folder, or a
  // folder that holds one of these. Where several are there, the first of: cifar-10-batches-py,
  // cifar-10-batches-bin, cifar-100-python, cifar-100-binary, and then their archives.
  std::string path = {};

  // kAuto: by the names of the files.
  CifarDataset dataset = CifarDataset::kAuto;

  // Names of the splits, with commas. Two: all training batches, and the test batch. Three, for
  // CIFAR-10 only: the last training batch is held out as the second. Default (empty):
  // "train,validation,eval" = data_batch_1 to 4, data_batch_5, test_batch for CIFAR-10, as the
  // widespread conversion script does; "train,eval" for CIFAR-100.
  std::string splits = {};

  // Not owned; it must outlive the source. Null: PosixFiles().
  FileSystem* files = nullptr;
};

// Opens a CIFAR data set; any number of rows a batch. Items are the rows in file order, with the
// features `image` (3072 bytes: 32x32, planar red, green, blue) and `label` (int64, from 0);
// CIFAR-100 has its fine label as `label` and the coarse one as `coarse_label`. Class names are
// those of the meta file, empty where that is missing.
//
// Pickles of protocols 0 to 5 are read as data, nothing in them is executed; the pixels must be a
// C-ordered uint8 array of shape (rows, 3072) or (rows, 3, 32, 32).
//
// Memory: a folder's files stay on disk (labels, 8 bytes a row, and about 400 KB a reader are
// held); an archive is unpacked into memory, 184 MB for the published ones, and so are pixels that
// a pickle holds in encoded form (protocol 0, and protocol 2 written by Python 3).
//
// Throws Error: kNotFound for a missing path or batch, kCorrupt for damaged or truncated files,
// kUnsupported for arrays of other types or orders and for pickles that would execute something,
// kInvalidArgument for a path that is no CIFAR data set and for wrong `splits`. A label that is out
// of range is found by Read(), as kCorrupt with the row; a file whose size changes after it was
// opened as kIo.
std::unique_ptr<Source> OpenCifar(const CifarOptions& options);

// Whether OpenCifar() would take `path` for a CIFAR data set, by names only: of a folder's files,
// or of the first members of an archive. Never throws: what cannot be read is none.
bool LooksLikeCifar(const std::string& path);

}  // namespace recpack::pack
