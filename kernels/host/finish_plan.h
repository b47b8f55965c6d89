// State of a Finisher, and the code paths for each CPU level that use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recpack/kernels/finish.h"

namespace recpack {

// Pixels that every path processes at a time.
constexpr int kFinishStep = 16;

struct FinishPlan;

// Part of one result that its source covers, at least kFinishStep pixels wide. Distances are in
// bytes. If source and result rows are contiguous, all rows are joined into one.
struct FinishJob {
  const uint8_t* from;  // first source pixel used, in the first plane
  uint8_t* to;          // start of the first row covered, in the first plane
  size_t rows;
  size_t count;             // pixels per row
  size_t left, right;       // bytes of padding at the ends of a row
  size_t in_row, in_plane;  // distance between source rows and planes
  bool flip;
};
using FinishRun = void (*)(const FinishPlan&, const FinishJob&);

// Writes `rows` rows of padding to each plane of a result.
using FillRun = void (*)(const FinishPlan&, size_t rows, uint8_t* to);

// Functions of a code path.
struct FinishPath {
  FinishRun finish = nullptr;
  FillRun fill = nullptr;
};

struct FinishPlan {
  FinishOptions options;
  FinishPath path;

  // Factors for the elements of sixteen pixels in the order of the result: per channel if planar,
  // otherwise interleaved.
  alignas(64) float scale[4][kFinishStep];
  alignas(64) float bias[4][kFinishStep];

  std::vector<uint8_t> fill;  // finished row of padding for each plane

  // Layout of the result: planes (1 if interleaved), bytes per row, and bytes per plane.
  size_t planes = 0, row_bytes = 0, plane_bytes = 0;
};

// Return the path for these options.
FinishPath PortableFinish(const FinishOptions& options);
#if defined(__x86_64__)
FinishPath Avx2Finish(const FinishOptions& options);
FinishPath Avx512Finish(const FinishOptions& options);
#elif defined(__aarch64__)
FinishPath NeonFinish(const FinishOptions& options);
#endif

}  // namespace recpack
