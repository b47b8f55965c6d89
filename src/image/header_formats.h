// One header reader a format; each is given bytes that begin as its format does.
#pragma once

#include "recpack/image/header.h"

namespace recpack {

ImageHeader ReadJpegHeader(ByteView bytes);
ImageHeader ReadPngHeader(ByteView bytes);
ImageHeader ReadGifHeader(ByteView bytes);
ImageHeader ReadBmpHeader(ByteView bytes);
ImageHeader ReadWebpHeader(ByteView bytes);

}  // namespace recpack
