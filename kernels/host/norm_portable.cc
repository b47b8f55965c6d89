#define RECPACK_TARGET
#include "kernels/host/norm_rows.h"

namespace recpack {

NormPath PortableNorm() { return kPath; }

}  // namespace recpack
