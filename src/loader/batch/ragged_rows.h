// Ragged arrays of a batch: rows of all samples, one behind the other, and their offsets.
//
// While a batch is made, each sample writes to its own place, as to any array: its rows to room for
// the most that it may have, and their number to where its offset will be. Samples are made by
// several threads in any order, so the rows are moved together when the last one is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recpack/loader/array_spec.h"

namespace recpack {

// Returns the array of offsets that belongs to a ragged array, and lies behind it in all lists.
ArraySpec OffsetsOf(const ArraySpec& ragged);

// Returns how many rows the slab has room for, in a batch of so many samples.
size_t MostRows(const ArraySpec& array, size_t samples) noexcept;

// Moves the rows of all ragged arrays together, and makes offsets of their numbers.
void PackRagged(const std::vector<ArraySpec>& arrays, size_t samples, uint8_t* slab) noexcept;

// Returns the number of rows of array `index` in a batch that is packed. Never more than there is
// room for, whatever a user's function wrote to the offsets.
size_t RowsOf(const std::vector<ArraySpec>& arrays, size_t index, size_t samples,
              const uint8_t* slab) noexcept;

// Returns the size of a row. Of a ragged array, a sample has shape[0] of them at most.
size_t RowBytes(const ArraySpec& array) noexcept;

}  // namespace recpack
