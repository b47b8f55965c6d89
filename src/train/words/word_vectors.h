// Vectors of words that were trained before, for rows of a model's table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace recpack::train {

struct WordVectors {
  int64_t dims = 0;
  std::vector<uint32_t> rows;  // of the table, each once
  std::vector<float> values;   // `dims` for each of the rows, in their order

  // Overwrites these rows of a table in host memory, which has a row of `dims` values per token.
  void WriteTo(std::span<float> table) const;

  // SHA-256 in hexadecimal: equal for equal vectors of the same rows.
  std::string Digest() const;
};

}  // namespace recpack::train
