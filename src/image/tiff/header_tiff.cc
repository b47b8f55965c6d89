#include "recpack/base/error.h"
#include "src/image/header_formats.h"
#include "src/image/tiff/tiff_directory.h"
#include "src/image/tiff/tiff_tags.h"

namespace recpack {
namespace {

constexpr uint64_t kMostPixels = 0x7FFFFFFF;  // of a side

int Side(const TiffDirectory& directory, uint16_t tag, const char* name) {
  const uint64_t pixels = directory.Number(tag).value_or(0);
  if (pixels >= 1 && pixels <= kMostPixels) return static_cast<int>(pixels);
  throw Error(ErrorKind::kCorrupt, std::string("the TIFF has no valid ") + name, {.offset = 4});
}

// Raw files of cameras are TIFFs whose first image is a small view of another one, or say that they
// are: the "CR" of CR2, the version of DNG.
bool IsCameraRaw(const TiffDirectory& directory, ByteView bytes) {
  constexpr uint64_t kReduced = 1;
  return (directory.Number(tiff::kSubfile).value_or(0) & kReduced) != 0 ||
         directory.Has(tiff::kDngVersion) ||
         (bytes.size() > 10 && bytes[8] == 'C' && bytes[9] == 'R');
}

// As ImageHeader::channels.
int Channels(uint64_t photometric, uint64_t samples) {
  const int colours = tiff::ColourChannels(photometric);
  if (colours == 0 || samples > 4) return 0;
  if (photometric == tiff::kPalette) return samples == 1 ? 3 : 4;
  return static_cast<int>(samples);
}

}  // namespace

ImageHeader ReadTiffHeader(ByteView bytes) {
  const std::optional<TiffDirectory> directory = TiffDirectory::Find(bytes);
  if (!directory || !directory->complete())
    throw Error(ErrorKind::kCorrupt, "the TIFF's directory is cut off", {.offset = 4});
  if (IsCameraRaw(*directory, bytes)) return {};
  ImageHeader header{.format = ImageFormat::kTiff};
  header.width = Side(*directory, tiff::kWidth, "width");
  header.height = Side(*directory, tiff::kHeight, "height");
  header.channels = Channels(directory->Number(tiff::kPhotometric).value_or(tiff::kBlackIsZero),
                             directory->Number(tiff::kSamples).value_or(1));
  const uint64_t bits = directory->Number(tiff::kBits).value_or(1);
  header.bit_depth = bits <= 64 ? static_cast<int>(bits) : 0;
  header.orientation = directory->Orientation();
  return header;
}

}  // namespace recpack
