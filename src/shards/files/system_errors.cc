#include "src/shards/files/system_errors.h"

#include <algorithm>
#include <cerrno>

namespace recpack {
namespace {

// Errors of a damaged file system, or of a disk or server that cannot read a block.
constexpr int kUnreadable[] = {EIO, EUCLEAN, EBADMSG, ENODATA, EREMOTEIO, EILSEQ};
constexpr int kNoFile[] = {EISDIR, ENOTDIR, ELOOP};
constexpr int kLimits[] = {EMFILE, ENFILE, ENOMEM, EAGAIN, ENOBUFS, ENOSPC, EDQUOT};

}  // namespace

bool IsRefused(const Error& error) {
  return error.kind() == ErrorKind::kIo && !std::ranges::count(kUnreadable, error.error_number()) &&
         !std::ranges::count(kNoFile, error.error_number());
}

bool IsResourceLimit(const Error& error) {
  return std::ranges::count(kLimits, error.error_number()) > 0;
}

}  // namespace recpack
