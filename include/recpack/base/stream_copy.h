// Copying past the caches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recpack {

// As memcpy(), for memory that this processor will not read soon: where both the CPU and the
// alignment of `to` (16) allow, its lines are written without being fetched first and stay out of
// the caches. Other threads see the bytes as after any other store.
void StreamCopy(uint8_t* to, const uint8_t* from, size_t bytes) noexcept;

}  // namespace recpack
