// Functions of libavif, which is loaded at the first AVIF.
#pragma once

#include <avif/avif.h>

namespace recpack {

struct AvifLibrary {
  decltype(&::avifDecoderCreate) create;
  decltype(&::avifDecoderDestroy) destroy;
  decltype(&::avifDecoderSetIOMemory) set_memory;
  decltype(&::avifDecoderParse) parse;
  decltype(&::avifDecoderNextImage) next;
  decltype(&::avifRGBImageSetDefaults) set_defaults;
  decltype(&::avifImageYUVToRGB) to_rgb;
  decltype(&::avifResultToString) text_of;
};

// Thread-safe. Throws Error (kUnsupported) where libavif is not installed, in the version of its
// headers.
const AvifLibrary& Avif();

}  // namespace recpack
