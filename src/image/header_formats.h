// Header parsers, one per format. The bytes must begin with the signature of the format.
#pragma once

#include "recpack/image/header.h"

namespace recpack {

ImageHeader ReadJpegHeader(ByteView bytes);
ImageHeader ReadPngHeader(ByteView bytes);
ImageHeader ReadGifHeader(ByteView bytes);
ImageHeader ReadBmpHeader(ByteView bytes);
ImageHeader ReadWebpHeader(ByteView bytes);
ImageHeader ReadAvifHeader(ByteView bytes);
ImageHeader ReadTiffHeader(ByteView bytes);

}  // namespace recpack
