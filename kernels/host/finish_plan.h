// What a Finisher holds, and the paths for each kind of CPU that work from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recpack/kernels/finish.h"

namespace recpack {

// Pixels that every path takes at a time.
constexpr int kFinishStep = 16;

struct FinishPlan;

// The part of one result that its source covers, at least kFinishStep pixels wide, and where it
// lies. Distances are bytes. Where source and result go on from row to row without padding, all
// rows are one.
struct FinishJob {
  const uint8_t* from;  // the first pixel that is used, in the first plane
  uint8_t* to;          // the start of the first row that is covered, in the first plane
  size_t rows;
  size_t count;             // pixels of a row
  size_t left, right;       // bytes of padding at the ends of a row
  size_t in_row, in_plane;  // from one to the next
  bool flip;
};
using FinishRun = void (*)(const FinishPlan&, const FinishJob&);

// Writes `rows` rows of padding to each plane of a result.
using FillRun = void (*)(const FinishPlan&, size_t rows, uint8_t* to);

// The functions of a path.
struct FinishPath {
  FinishRun finish = nullptr;
  FillRun fill = nullptr;
};

struct FinishPlan {
  FinishOptions options;
  FinishPath path;

  // Factors of sixteen pixels' elements in the order of the result: of a planar one by channel, of
  // an interleaved one as they follow each other.
  alignas(64) float scale[4][kFinishStep];
  alignas(64) float bias[4][kFinishStep];

  std::vector<uint8_t> fill;  // a finished row of padding: of every plane, or of the result

  // Of the result: planes (1 where it is interleaved), bytes of a row of one, and from one to the
  // next.
  size_t planes = 0, row_bytes = 0, plane_bytes = 0;
};

// The path for these options.
FinishPath PortableFinish(const FinishOptions& options);
#if defined(__x86_64__)
FinishPath Avx2Finish(const FinishOptions& options);
FinishPath Avx512Finish(const FinishOptions& options);
#elif defined(__aarch64__)
FinishPath NeonFinish(const FinishOptions& options);
#endif

}  // namespace recpack
