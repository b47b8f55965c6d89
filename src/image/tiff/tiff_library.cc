#include "src/image/tiff/tiff_library.h"

#include "recpack/base/shared_library.h"

namespace recpack {
namespace {

TiffLibrary Load() {
  TiffLibrary tiff = {};
  const SharedLibrary library(RECPACK_TIFF_LIBRARY, "",
                              "install libtiff, to decode TIFFs: apt install libtiff6");
#define RECPACK_FIND(member, name) library.Find(tiff.member, #name)
  RECPACK_FIND(options_alloc, TIFFOpenOptionsAlloc);
  RECPACK_FIND(options_free, TIFFOpenOptionsFree);
  RECPACK_FIND(options_on_error, TIFFOpenOptionsSetErrorHandlerExtR);
  RECPACK_FIND(options_on_warning, TIFFOpenOptionsSetWarningHandlerExtR);
  RECPACK_FIND(open, TIFFClientOpenExt);
  RECPACK_FIND(close, TIFFClose);
  RECPACK_FIND(get_field, TIFFGetFieldDefaulted);
  RECPACK_FIND(set_field, TIFFSetField);
  RECPACK_FIND(is_tiled, TIFFIsTiled);
  RECPACK_FIND(strip_of, TIFFComputeStrip);
  RECPACK_FIND(tile_of, TIFFComputeTile);
  RECPACK_FIND(strip_bytes, TIFFStripSize64);
  RECPACK_FIND(tile_bytes, TIFFTileSize64);
  RECPACK_FIND(row_bytes, TIFFScanlineSize64);
  RECPACK_FIND(tile_row_bytes, TIFFTileRowSize64);
  RECPACK_FIND(read_strip, TIFFReadEncodedStrip);
  RECPACK_FIND(read_tile, TIFFReadEncodedTile);
#undef RECPACK_FIND
  return tiff;
}

}  // namespace

const TiffLibrary& Tiff() {
  static const TiffLibrary tiff = Load();
  return tiff;
}

}  // namespace recpack
