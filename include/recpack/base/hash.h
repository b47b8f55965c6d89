// SHA-256 digests.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "recpack/base/bytes.h"

namespace recpack {

using Sha256Digest = std::array<uint8_t, 32>;

// SHA-256 (FIPS 180-4) of a stream. One thread at a time.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void Update(ByteView bytes);

  // Returns the digest of all bytes so far and resets the object.
  Sha256Digest Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Formats bytes as lower-case hexadecimal.
std::string Hex(ByteView bytes);

}  // namespace recpack
