#if defined(__x86_64__)
#define RECPACK_PATH avx2
#define RECPACK_TARGET __attribute__((target("avx2")))
#include "kernels/host/norm_path.h"

namespace recpack {

NormPath Avx2Norm() { return avx2::kPath; }

}  // namespace recpack
#endif
