// Pictures of a batch: which part of them is taken, and what becomes of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "recpack/image/resize.h"
#include "recpack/kernels/finish.h"
#include "recpack/loader/augment.h"

namespace recpack {

// Which part of a picture is taken, and how it gets the result's size.
enum class CropKind : uint8_t {
  kNone,           // the picture has the result's size
  kPadAndCrop,     // `pad` pixels of 0 on each side, then a random place (torchvision RandomCrop)
  kRandomResized,  // a random area and aspect, resized (torchvision RandomResizedCrop)
  kResizeCentre,   // shorter side to `resize`, then the middle (torchvision Resize, CenterCrop)
  kResize,         // the whole picture to the result's size, aspect not kept
};

// How encoded pictures become pixels. Damage, EXIF orientation and approximations: as DecodeOptions
// has them, with their errors; all off by default.
struct ImageDecoding {
  bool apply_orientation = false;  // crops and sizes are then of the picture as it is seen
  bool allow_damage = false;
  bool fast_dct = false;
  bool fancy_upsampling = true;
  // JPEGs are decoded at 1/2, 1/4 or 1/8 of their size where what is resized stays at least as
  // large as what becomes of it, and a crop to the nearest pixel of that.
  bool scaled = false;
  // JPEGs are cropped and resized as JpegPlaneResizer does, colours as they are stored, where it
  // can, `scaled` does not apply, and no orientation is to be undone.
  bool resize_planes = false;
  // 3: RGB. 1: a mask or a gray picture, as PixelLayout::kOne has it: numbers of palette entries
  // stay as they are; neither `scaled` nor `resize_planes`.
  int channels = 3;
  bool operator==(const ImageDecoding&) const = default;
};

// A picture: an encoded JPEG or PNG, or raw bytes of a known shape.
struct ImageField {
  std::string name = "image";
  // Feature that holds it; empty: the first there is of image/encoded, image, jpg, jpeg, png.
  std::string feature;
  // Raw bytes: channels (1 to 3), height, width, planar; all 0: encoded, by its first bytes.
  std::array<int, 3> raw_shape = {};
  int height = 224;
  int width = 224;
  CropKind crop = CropKind::kNone;
  int pad = 0;                               // kPadAndCrop
  int resize = 0;                            // kResizeCentre: the shorter side before the crop
  std::array<double, 2> area = {0.08, 1.0};  // kRandomResized: of the picture's
  std::array<double, 2> aspect = {0.75, 4.0 / 3.0};  // kRandomResized: width / height
  ImageDecoding decoding;                            // of encoded ones
  ResizeFilter filter = ResizeFilter::kBilinear;     // with antialias, as torchvision
  float flip = 0;                                    // probability of a flip from left to right
  ImageAugment augment;                              // pictures of 1 or 3 channels
  // Result: (value / 255 - mean) / std by channel. Not applied to u8.
  std::array<double, 3> mean = {0, 0, 0};
  std::array<double, 3> std = {1, 1, 1};
  ElementType type = ElementType::kF32;
  ImageLayout layout = ImageLayout::kNchw;
  // Fields with the same view of a sample draw the same numbers: a picture and its mask (channels
  // 1, kNearest, u8) are cropped and flipped alike, where both have one size. A policy that moves
  // pixels moves those of its own field only. Views of one picture that shall differ need different
  // numbers, below 65520.
  uint32_t view = 0;
  // The picture is left for a device to finish: NAME is its source in u8, as FinishOptionsOf()
  // says, and NAME_geometry is x, y, flip (i32: FinishGeometry as it lies in memory).
  bool finish_on_device = false;
};

// What finishes the field's pictures, on the host or on a device. Throws Error (kInvalidArgument)
// for a field that makes no sense.
FinishOptions FinishOptionsOf(const ImageField& field);

}  // namespace recpack
