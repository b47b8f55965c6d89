// Cost of a loader's stages per sample, and ceilings: the rate of bare calls that do the same work.
#pragma once

#include "src/ceiling/predict.h"
#include "src/probe/doctor/ceilings.h"
#include "src/probe/evidence/loader_work.h"
#include "src/probe/procfs/system_rates.h"
#include "src/probe/util/reading.h"

namespace recpack::probe {

// Seconds that one worker spends in the stage per sample.
double StageCost(const LoaderWork& work, Stage stage);

// `system`: rates over the same time, or nullptr. `cores`: how many the workers may use.
ceiling::LoaderCost MakeLoaderCost(const LoaderWork& work, const SystemRates* system, int cores);

// Samples per second that bare calls of the stage's work reach on `threads` threads.
Reading<double> StageCeiling(const LoaderWork& work, Stage stage, const Ceilings& ceilings,
                             int threads);

// Tells whether the files were in memory: workers waited for input less than storage would take.
bool InputIsFromMemory(const LoaderWork& work, const Ceilings& ceilings);

// Bytes of storage per sample.
double StoredBytes(const LoaderWork& work);

// JPEGs per sample, and the average of one JPEG. All 0 if none was decoded.
struct MeanPicture {
  double count = 0;
  double bytes = 0;   // encoded
  double coded = 0;   // encoded bytes that the decoder had to read
  double pixels = 0;  // of the whole picture
  double made = 0;    // pixels that were decoded
};
MeanPicture AveragePicture(const LoaderWork& work);

}  // namespace recpack::probe
