// Image field: decoding, crop, resize, augmentation and result of the images in a batch.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "recpack/image/resize.h"
#include "recpack/kernels/finish.h"
#include "recpack/loader/augment.h"

namespace recpack {

// How an image is cropped and resized to the result's size.
enum class CropKind : uint8_t {
  kNone,           // the image already has the result's size
  kPadAndCrop,     // `pad` zero pixels on each side, then a random crop (torchvision RandomCrop)
  kRandomResized,  // random area and aspect, then resize (torchvision RandomResizedCrop)
  // Resize the shorter side to `resize`, then crop the centre (torchvision Resize, CenterCrop)
  kResizeCentre,
  kResize,  // resize the whole image to the result's size, ignoring its aspect
};

// Decoding of encoded images. Damage, EXIF orientation and approximations are as in DecodeOptions,
// with the same errors; all off by default.
struct ImageDecoding {
  bool apply_orientation = false;  // crops and sizes then refer to the oriented image
  bool allow_damage = false;
  bool fast_dct = false;
  bool fancy_upsampling = true;
  // Decodes JPEGs at 1/2, 1/4 or 1/8 of their size if the part to resize stays at least as large as
  // the result. Crops are then exact to the nearest pixel of the scaled image.
  bool scaled = false;
  // Crops and resizes JPEGs with JpegPlaneResizer, in the stored colour planes, if it supports the
  // image, `scaled` does not apply and there is no orientation to undo.
  bool resize_planes = false;
  // 3: RGB. 1: a mask or grayscale image, see PixelLayout::kOne: palette indices stay unchanged;
  // not with `scaled` or `resize_planes`.
  int channels = 3;
  // 16: one channel of PNGs and TIFFs with 16 bits of gray, such as maps of depth, see
  // PixelLayout::kOne16. Of type i32 (the values as stored) or f32 (value / 65535, normalised),
  // with ResizeFilter::kNearest, and not augmented but for crop and flip.
  int bits = 8;
  bool operator==(const ImageDecoding&) const = default;
};

// An image: an encoded JPEG, PNG, WebP, AVIF, TIFF, BMP or GIF; interleaved pixels of a shape that
// the record holds, (height, width) or (height, width, channels) in feature NAME/shape; or raw
// bytes of a known shape.
struct ImageField {
  std::string name = "image";
  // Feature with the image. Default: FindPicture().
  std::string feature;
  // Shape of raw bytes: channels (1 to 3), height, width. All 0: the record has the shape, or the
  // image is encoded; the format is detected from its first bytes.
  std::array<int, 3> raw_shape = {};
  ImageLayout raw_layout = ImageLayout::kNchw;  // of raw bytes: planar, or kNhwc: interleaved
  int height = 224;
  int width = 224;
  CropKind crop = CropKind::kNone;
  int pad = 0;                                       // kPadAndCrop
  int resize = 0;                                    // kResizeCentre: shorter side before the crop
  std::array<double, 2> area = {0.08, 1.0};          // kRandomResized: share of the image's area
  std::array<double, 2> aspect = {0.75, 4.0 / 3.0};  // kRandomResized: width / height
  ImageDecoding decoding;                            // encoded images only
  ResizeFilter filter = ResizeFilter::kBilinear;     // with antialias, as in torchvision
  float flip = 0;                                    // probability of a horizontal flip
  ImageAugment augment;                              // for 1 or 3 channels
  // Result: (value / 255 - mean) / std, per channel. Not applied if the type is u8 or i32.
  std::array<double, 3> mean = {0, 0, 0};
  std::array<double, 3> std = {1, 1, 1};
  ElementType type = ElementType::kF32;
  ImageLayout layout = ImageLayout::kNchw;
  // Fields with the same view draw the same random numbers: an image and its mask (channels 1,
  // kNearest, u8) of the same size are cropped and flipped alike. A policy that moves pixels
  // affects only its own field. To get different views of one image, use different numbers, below
  // 65520.
  uint32_t view = 0;
  // Leaves finishing to a device: array NAME is the source in u8, as described by
  // ToFinishOptions(), and NAME_geometry is x, y, flip (i32, laid out as FinishGeometry).
  bool finish_on_device = false;
};

// Returns the options that finish the field's images, on the host or on a device. Throws Error
// (kInvalidArgument) for an invalid field.
FinishOptions ToFinishOptions(const ImageField& field);

}  // namespace recpack
