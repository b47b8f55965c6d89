// Digests.
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

  // The digest of all bytes so far; the object starts again from nothing.
  Sha256Digest Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Lower-case hexadecimal.
std::string Hex(ByteView bytes);

}  // namespace recpack
