// Functions of libtiff, which is loaded at the first TIFF.
#pragma once

#include <tiffio.h>

namespace recpack {

struct TiffLibrary {
  decltype(&::TIFFOpenOptionsAlloc) options_alloc;
  decltype(&::TIFFOpenOptionsFree) options_free;
  decltype(&::TIFFOpenOptionsSetErrorHandlerExtR) options_on_error;
  decltype(&::TIFFOpenOptionsSetWarningHandlerExtR) options_on_warning;
  decltype(&::TIFFClientOpenExt) open;
  decltype(&::TIFFClose) close;
  decltype(&::TIFFGetFieldDefaulted) get_field;
  decltype(&::TIFFSetField) set_field;
  decltype(&::TIFFIsTiled) is_tiled;
  decltype(&::TIFFComputeStrip) strip_of;
  decltype(&::TIFFComputeTile) tile_of;
  decltype(&::TIFFStripSize64) strip_bytes;
  decltype(&::TIFFTileSize64) tile_bytes;
  decltype(&::TIFFScanlineSize64) row_bytes;
  decltype(&::TIFFTileRowSize64) tile_row_bytes;
  decltype(&::TIFFReadEncodedStrip) read_strip;
  decltype(&::TIFFReadEncodedTile) read_tile;
};

// Thread-safe. Throws Error (kUnsupported) where there is no libtiff 4.5 or newer.
const TiffLibrary& Tiff();

}  // namespace recpack
