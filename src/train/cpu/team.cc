#include "src/train/cpu/team.h"

#include "recpack/base/affinity.h"
#include "recpack/base/error.h"
#include "src/base/format.h"

// Declared in libgomp; Clang has no header for it. In Clang builds, only oneDNN's own work is
// parallel.
extern "C" void omp_set_num_threads(int threads);
extern "C" int omp_get_thread_num();

namespace recpack::train {

Team::Team(int threads, std::vector<int> processors)
    : threads_(threads), processors_(std::move(processors)) {
  if (threads < 1) throw Error(ErrorKind::kInvalidArgument, "a CPU device needs at least 1 thread");
}

void Team::Attach() const {
  omp_set_num_threads(threads_);
  if (processors_.empty()) return;
  For(static_cast<size_t>(threads_),
      [&](size_t i) { BindThread(processors_[i % processors_.size()]); });
}

void Team::Run(size_t count, void (*body)(const void*, size_t), const void* context) const {
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (size_t i = 0; i < count; ++i) body(context, i);
}

}  // namespace recpack::train
