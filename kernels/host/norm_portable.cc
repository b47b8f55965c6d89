#define RECPACK_PATH portable
#define RECPACK_TARGET
#include "kernels/host/norm_path.h"

namespace recpack {

NormPath PortableNorm() { return portable::kPath; }

}  // namespace recpack
