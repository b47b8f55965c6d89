#if defined(__x86_64__)
#define RECPACK_PATH avx512
#define RECPACK_TARGET __attribute__((target("avx512f,avx512bw,avx512vl")))
#include "kernels/host/norm_path.h"

namespace recpack {

NormPath Avx512Norm() { return avx512::kPath; }

}  // namespace recpack
#endif
