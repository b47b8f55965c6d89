#include "src/image/avif/avif_library.h"

#include "recpack/base/shared_library.h"

namespace recpack {
namespace {

AvifLibrary Load() {
  AvifLibrary avif = {};
  const SharedLibrary library(RECPACK_AVIF_LIBRARY, "",
                              "install libavif, to decode AVIFs: apt install libavif-dev");
#define RECPACK_FIND(member, name) library.Find(avif.member, #name)
  RECPACK_FIND(create, avifDecoderCreate);
  RECPACK_FIND(destroy, avifDecoderDestroy);
  RECPACK_FIND(set_memory, avifDecoderSetIOMemory);
  RECPACK_FIND(parse, avifDecoderParse);
  RECPACK_FIND(next, avifDecoderNextImage);
  RECPACK_FIND(set_defaults, avifRGBImageSetDefaults);
  RECPACK_FIND(to_rgb, avifImageYUVToRGB);
  RECPACK_FIND(text_of, avifResultToString);
#undef RECPACK_FIND
  return avif;
}

}  // namespace

const AvifLibrary& Avif() {
  static const AvifLibrary avif = Load();
  return avif;
}

}  // namespace recpack
