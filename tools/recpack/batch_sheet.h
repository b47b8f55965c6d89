// Draws the batch of a loader's token.
#pragma once

#include <cstdint>
#include <string>

#include "src/pack/check/sheet.h"

namespace recpack::tool {

struct BatchSheetFlags {
  std::string token;
  std::string recipe;
  uint32_t batch_size = 256;
};

// Draws the pictures of the batch as the recipe crops and augments them, before normalisation, each
// with its label and record ordinal. Throws Error for tokens and recipes that do not fit the data.
Image DrawBatchBehind(const std::string& path, const std::string& split,
                      const BatchSheetFlags& flags, const pack::SheetOptions& options);

}  // namespace recpack::tool
