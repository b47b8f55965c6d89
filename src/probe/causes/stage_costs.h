// What a loader's samples cost it, and what bare calls of the same work would.
#pragma once

#include "src/ceiling/predict.h"
#include "src/probe/doctor/ceilings.h"
#include "src/probe/evidence/loader_work.h"
#include "src/probe/procfs/system_rates.h"
#include "src/probe/util/reading.h"

namespace recpack::probe {

// Seconds a sample of one worker.
double CostOf(const LoaderWork& work, Stage stage);

// `system`: of the same time, or null. `cores`: that the workers may use.
ceiling::LoaderCost CostOf(const LoaderWork& work, const SystemRates* system, int cores);

// Samples a second that bare calls of the stage's work reach on `threads` threads.
Reading<double> CeilingOf(const LoaderWork& work, Stage stage, const Ceilings& ceilings,
                          int threads);

// Whether workers waited less for input than storage takes to give it: their files were in memory.
bool InputIsFromMemory(const LoaderWork& work, const Ceilings& ceilings);

// Bytes of storage a sample.
double StoredBytes(const LoaderWork& work);

// JPEGs a sample, and what one of them is on average. Nothing was decoded: 0.
struct MeanPicture {
  double count = 0;
  double bytes = 0;   // encoded
  double coded = 0;   // of these, that had to be read
  double pixels = 0;  // of the whole
  double made = 0;    // of these, that were made
};
MeanPicture PictureOf(const LoaderWork& work);

}  // namespace recpack::probe
