#include "recpack/image/jpeg_crop.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/image/checks.h"
#include "src/image/jpeg/decode_jpeg.h"
#include "src/image/jpeg/jpeg_coefficients.h"
#include "src/image/jpeg/jpeg_segments.h"
#include "src/image/jpeg/jpeg_sequential.h"

namespace recpack {
namespace {

// Columns decoded on each side of the region: libjpeg treats the edges of a crop as edges of the
// image, and smooth upsampling reads one more chroma sample.
constexpr int kMargin = 2;

// Tells whether libjpeg's crop gives the same pixels as a full decode. Tested for these sampling
// factors.
bool CanCrop(const jpeg_decompress_struct& info) {
  return !LeavesOutCoefficients(info) &&
         std::all_of(info.comp_info, info.comp_info + info.num_components,
                     [](const jpeg_component_info& c) {
                       return c.h_samp_factor <= 2 && c.v_samp_factor <= 2;
                     });
}

// Columns of the rows that libjpeg returns.
struct Columns {
  JDIMENSION first, width;
};

// Makes libjpeg decode the region's columns and the margin; it extends them to whole MCUs.
Columns CropColumns(jpeg_decompress_struct& info, const Region& region) {
  const int first = std::max(0, region.x - kMargin);
  const int end = std::min(static_cast<int>(info.output_width), region.x + region.width + kMargin);
  Columns columns{static_cast<JDIMENSION>(first), static_cast<JDIMENSION>(end - first)};
  jpeg_crop_scanline(&info, &columns.first, &columns.width);
  return columns;
}

}  // namespace

struct JpegRegionDecoder::State {
  JpegReader reader;
  SequentialJpeg sequential;
  TiledJpeg tiled;
  std::vector<size_t> boundaries;
  double coded_share = 1;
  ByteBuffer file, scratch;

  // Writes the segments needed for `region` to the file buffer. Returns false if `jpeg` is not
  // tiled.
  bool Cut(ByteView jpeg, const Region& region, int scale_denominator, Region& shown);

  void Decode(ByteView jpeg, const Region& region, const DecodeOptions& options, Image& out);

  // Starts decompression at the region's first row; returns the columns of the rows.
  Columns Start(const Region& region);

  void ReadRows(const Columns& columns, const Region& region, Image& out);
};

Columns JpegRegionDecoder::State::Start(const Region& region) {
  jpeg_decompress_struct& info = reader.info();
  Columns columns{0, info.output_width};
  scratch.resize(size_t{4} * info.output_width);
  reader.Run([&] {
    jpeg_start_decompress(&info);
    if (CanCrop(info)) {
      columns = CropColumns(info, region);
      jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(region.y));
    }
    JSAMPROW row = scratch.data();
    while (info.output_scanline < static_cast<JDIMENSION>(region.y)) {
      jpeg_read_scanlines(&info, &row, 1);
    }
  });
  return columns;
}

void JpegRegionDecoder::State::ReadRows(const Columns& columns, const Region& region, Image& out) {
  jpeg_decompress_struct& info = reader.info();
  const bool cmyk = info.out_color_space == JCS_CMYK;
  const size_t channels = cmyk ? 4 : static_cast<size_t>(out.channels);
  const uint8_t* from =
      scratch.data() + (static_cast<JDIMENSION>(region.x) - columns.first) * channels;
  reader.Run([&] {
    JSAMPROW row = scratch.data();
    for (int y = 0; y < region.height; ++y) {
      jpeg_read_scanlines(&info, &row, 1);
      if (cmyk) {
        CmykToRgb(from, static_cast<size_t>(region.width), out.row(y));
      } else {
        std::copy_n(from, out.row_bytes(), out.row(y));
      }
    }
  });
}

bool JpegRegionDecoder::State::Cut(ByteView jpeg, const Region& region, int scale_denominator,
                                   Region& shown) {
  if (!ParseTiledJpeg(jpeg, tiled)) return false;
  CheckRegion(region, ScaledLength(tiled.frame.width, scale_denominator),
              ScaledLength(tiled.frame.height, scale_denominator));
  return CutSegments(jpeg, tiled, region, scale_denominator, boundaries, file, shown);
}

void JpegRegionDecoder::State::Decode(ByteView jpeg, const Region& region,
                                      const DecodeOptions& options, Image& out) {
  reader.Open(jpeg);
  reader.ReadHeader(options.max_pixels);
  const int channels = SetUpJpeg(reader, options);
  CheckRegion(region, reader.info().output_width, reader.info().output_height);
  out.Reshape(region.width, region.height, channels);
  const Columns columns = Start(region);
  ReadRows(columns, region, out);
  if (!options.allow_damage) reader.ThrowIfDamaged();
}

JpegRegionDecoder::JpegRegionDecoder() : state_(std::make_unique<State>()) {}
JpegRegionDecoder::~JpegRegionDecoder() = default;
JpegRegionDecoder::JpegRegionDecoder(JpegRegionDecoder&&) noexcept = default;
JpegRegionDecoder& JpegRegionDecoder::operator=(JpegRegionDecoder&&) noexcept = default;

void JpegRegionDecoder::Decode(ByteView jpeg, const Region& region, const DecodeOptions& options,
                               Image& out) {
  if (options.apply_orientation) {
    throw Error(ErrorKind::kInvalidArgument, "regions must be in stored pixels", {},
                "decode without the orientation and apply it to the region");
  }
  CheckScale(options);
  if (state_->sequential.Decode(jpeg, &region, options, state_->reader, out)) {
    state_->coded_share = state_->sequential.coded_share();
    return;
  }
  state_->coded_share = 1;
  Region shown;
  if (state_->Cut(jpeg, region, options.scale_denominator, shown)) {
    const Region inside{.x = region.x - shown.x,
                        .y = region.y - shown.y,
                        .width = region.width,
                        .height = region.height};
    state_->Decode(state_->file, inside, options, out);
  } else {
    state_->Decode(jpeg, region, options, out);
  }
}

double JpegRegionDecoder::coded_share() const noexcept { return state_->coded_share; }

Image DecodeJpegRegion(ByteView jpeg, const Region& region, const DecodeOptions& options) {
  Image image;
  JpegRegionDecoder().Decode(jpeg, region, options, image);
  return image;
}

}  // namespace recpack
