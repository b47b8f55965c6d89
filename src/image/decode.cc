#include "recpack/image/decode.h"

#include "recpack/base/error.h"
#include "recpack/image/header.h"
#include "src/base/format.h"
#include "src/image/decoders.h"
#include "src/image/jpeg_sequential.h"

namespace recpack {

struct ImageDecoder::State {
  JpegReader jpeg;
  SequentialJpeg sequential;
  ByteBuffer scratch;
};

ImageDecoder::ImageDecoder() : state_(std::make_unique<State>()) {}
ImageDecoder::~ImageDecoder() = default;
ImageDecoder::ImageDecoder(ImageDecoder&&) noexcept = default;
ImageDecoder& ImageDecoder::operator=(ImageDecoder&&) noexcept = default;

void ImageDecoder::Decode(ByteView bytes, const DecodeOptions& options, Image& out) {
  CheckScale(options);
  const ImageHeader header = ReadImageHeader(bytes);
  switch (header.format) {
    case ImageFormat::kJpeg:
      if (state_->sequential.Decode(bytes, nullptr, options, state_->jpeg, out)) break;
      DecodeJpeg(state_->jpeg, bytes, options, state_->scratch, out);
      break;
    case ImageFormat::kPng:
      if (options.scale_denominator != 1) {
        throw Error(ErrorKind::kUnsupported, "PNGs cannot be decoded at a fraction of their size",
                    {}, "set scale_denominator to 1 for them");
      }
      DecodePng(bytes, options, out);
      break;
    default:
      throw Error(ErrorKind::kUnsupported, format("only JPEG and PNG are decoded, this is {}",
                                                  ImageFormatName(header.format)));
  }
  if (options.apply_orientation) out = ApplyOrientation(std::move(out), header.orientation);
}

Image DecodeImage(ByteView bytes, const DecodeOptions& options) {
  Image image;
  ImageDecoder().Decode(bytes, options, image);
  return image;
}

}  // namespace recpack
