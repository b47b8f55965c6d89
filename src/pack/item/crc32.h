// Portable CRC-32 of gzip (RFC 1952, section 8).
#pragma once

#include <cstdint>

#include "recpack/base/bytes.h"

namespace recpack::pack {

// Continues `crc` (0 at the start) over `bytes`. About 2 GB/s.
uint32_t Crc32(uint32_t crc, ByteView bytes) noexcept;

}  // namespace recpack::pack
