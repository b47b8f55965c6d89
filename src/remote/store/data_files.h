// Files of data sets, on the local disk or at URLs.
#pragma once

#include "recpack/base/file.h"

namespace recpack::remote {

// Returns the file system for data: of PosixFiles() for local paths; for URLs (s3://, gs://,
// http(s)://) of objects that are read by ranges. Objects cannot be written yet. Never destroyed.
// Thread-safe; usable in a forked child.
FileSystem& DataFiles();

}  // namespace recpack::remote
