#include "src/stand_in/picture.h"

#include <algorithm>
#include <array>

namespace recpack::stand_in {
namespace {

constexpr int kSide = 32;

enum class Form : uint8_t { kEllipse, kBox, kTriangle };
enum class Paint : uint8_t { kBody, kDark, kLight };

// Parameters: ellipse: centre x, y, radius x, y; box: left, top, right, bottom; triangle: three
// corners.
struct Shape {
  Form form;
  Paint paint;
  std::array<float, 6> at;
};

struct Colour {
  int red, green, blue;
};

// A drawing in a square of 32; shapes are painted in order up to the first empty one.
struct Sketch {
  Colour above, below;  // background, from top to bottom
  Colour body;
  std::array<Shape, 9> shapes;
  size_t count;
};

constexpr Shape Ellipse(Paint paint, float x, float y, float rx, float ry) {
  return {Form::kEllipse, paint, {x, y, rx, ry}};
}
constexpr Shape Box(Paint paint, float left, float top, float right, float bottom) {
  return {Form::kBox, paint, {left, top, right, bottom}};
}
constexpr Shape Triangle(Paint paint, float x0, float y0, float x1, float y1, float x2, float y2) {
  return {Form::kTriangle, paint, {x0, y0, x1, y1, x2, y2}};
}

constexpr Paint kBody = Paint::kBody;
constexpr Paint kDark = Paint::kDark;
constexpr Paint kLight = Paint::kLight;

constexpr Sketch kSketches[10] = {
    {{120, 170, 230},
     {190, 215, 240},
     {200, 200, 205},  // airplane
     {Ellipse(kBody, 16, 16, 13, 2.5f), Triangle(kDark, 13, 16, 20, 16, 10, 27),
      Triangle(kDark, 13, 15, 20, 15, 12, 6), Triangle(kBody, 3, 15, 8, 15, 3, 8),
      Ellipse(kLight, 26, 15, 2, 1)},
     5},
    {{170, 180, 190},
     {90, 90, 95},
     {190, 40, 40},  // automobile
     {Box(kBody, 9, 10, 23, 16), Box(kLight, 11, 11, 15, 15), Box(kLight, 17, 11, 21, 15),
      Box(kBody, 3, 15, 29, 22), Ellipse(kDark, 9, 22, 3.2f, 3.2f),
      Ellipse(kDark, 23, 22, 3.2f, 3.2f)},
     6},
    {{150, 190, 220},
     {170, 190, 150},
     {130, 90, 60},  // bird
     {Ellipse(kBody, 14, 18, 7, 4.5f), Ellipse(kBody, 22, 12, 3.5f, 3.5f),
      Triangle(kLight, 25, 11, 30, 13, 25, 14), Triangle(kDark, 9, 15, 18, 17, 4, 24),
      Ellipse(kDark, 23, 11, 0.9f, 0.9f), Box(kDark, 13, 22, 14, 27), Box(kDark, 16, 22, 17, 27)},
     7},
    {{200, 180, 160},
     {160, 130, 110},
     {150, 120, 90},  // cat
     {Triangle(kBody, 7, 15, 8, 3, 15, 11), Triangle(kBody, 25, 15, 24, 3, 17, 11),
      Ellipse(kBody, 16, 18, 9, 8.5f), Ellipse(kLight, 12, 16, 2, 1.6f),
      Ellipse(kLight, 20, 16, 2, 1.6f), Ellipse(kDark, 12, 16, 0.8f, 1.6f),
      Ellipse(kDark, 20, 16, 0.8f, 1.6f), Triangle(kDark, 14.5f, 20, 17.5f, 20, 16, 22)},
     8},
    {{90, 120, 70},
     {110, 130, 60},
     {160, 110, 60},  // deer
     {Ellipse(kBody, 14, 17, 8, 4), Box(kBody, 7, 19, 9, 29), Box(kBody, 19, 19, 21, 29),
      Triangle(kBody, 18, 17, 23, 17, 24, 9), Ellipse(kBody, 25, 9, 3.5f, 2),
      Box(kDark, 22, 1, 23, 8), Box(kDark, 26, 1, 27, 8), Box(kDark, 20, 3, 29, 4),
      Ellipse(kLight, 7, 16, 1.5f, 1.5f)},
     9},
    {{180, 190, 200},
     {110, 150, 80},
     {180, 140, 90},  // dog
     {Ellipse(kBody, 16, 15, 8, 9), Ellipse(kDark, 7, 16, 3, 8), Ellipse(kDark, 25, 16, 3, 8),
      Ellipse(kLight, 16, 21, 5, 4), Ellipse(kDark, 16, 19, 2, 1.4f),
      Ellipse(kDark, 12.5f, 13, 1.2f, 1.2f), Ellipse(kDark, 19.5f, 13, 1.2f, 1.2f)},
     7},
    {{60, 70, 40},
     {100, 90, 60},
     {80, 160, 50},  // frog
     {Ellipse(kBody, 16, 21, 12, 6.5f), Ellipse(kBody, 10, 13, 3.5f, 3.5f),
      Ellipse(kBody, 22, 13, 3.5f, 3.5f), Ellipse(kLight, 10, 13, 2, 2),
      Ellipse(kLight, 22, 13, 2, 2), Ellipse(kDark, 10, 13, 1, 1), Ellipse(kDark, 22, 13, 1, 1),
      Box(kDark, 9, 22, 23, 23)},
     8},
    {{160, 190, 220},
     {90, 150, 60},
     {100, 60, 40},  // horse
     {Ellipse(kBody, 14, 15, 9, 5), Box(kBody, 6, 17, 9, 29), Box(kBody, 19, 17, 22, 29),
      Triangle(kBody, 17, 16, 24, 15, 25, 4), Ellipse(kBody, 26, 6, 4.5f, 2.2f),
      Triangle(kDark, 18, 13, 22, 13, 23, 3), Triangle(kDark, 6, 12, 2, 25, 5, 13)},
     7},
    {{170, 200, 225},
     {40, 80, 140},
     {140, 60, 50},  // ship
     {Box(kBody, 5, 19, 27, 24), Triangle(kBody, 27, 19, 31, 19, 27, 24),
      Triangle(kBody, 5, 19, 1, 19, 5, 24), Box(kLight, 9, 14, 20, 19), Box(kDark, 15, 3, 16, 14),
      Triangle(kLight, 17, 4, 17, 13, 25, 13), Box(kDark, 11, 16, 13, 17)},
     7},
    {{180, 185, 180},
     {100, 95, 90},
     {60, 110, 170},  // truck
     {Box(kLight, 2, 6, 19, 22), Box(kBody, 20, 11, 29, 22), Box(kDark, 24, 13, 28, 17),
      Box(kDark, 2, 21, 29, 23), Ellipse(kDark, 7, 24, 3, 3), Ellipse(kDark, 15, 24, 3, 3),
      Ellipse(kDark, 25, 24, 3, 3)},
     7},
};

bool InTriangle(const std::array<float, 6>& at, float x, float y) {
  const auto side = [&](int from, int to) {
    const float ax = at[2 * from], ay = at[2 * from + 1];
    const float left = (at[2 * to] - ax) * (y - ay);
    const float right = (at[2 * to + 1] - ay) * (x - ax);
    return left - right;
  };
  const float a = side(0, 1), b = side(1, 2), c = side(2, 0);
  return (a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0);
}

bool Contains(const Shape& shape, float x, float y) {
  const auto& at = shape.at;
  if (shape.form == Form::kTriangle) return InTriangle(at, x, y);
  if (shape.form == Form::kBox) return x >= at[0] && x <= at[2] && y >= at[1] && y <= at[3];
  const float dx = (x - at[0]) * at[3], dy = (y - at[1]) * at[2];
  const float dx2 = dx * dx, dy2 = dy * dy, limit = at[2] * at[3];
  return dx2 + dy2 <= limit * limit;
}

int Between(KeyedRandom& random, int low, int high) {
  return low + static_cast<int>(random.NextBelow(static_cast<uint32_t>(high - low + 1)));
}

Colour Vary(KeyedRandom& random, const Colour& colour, int by) {
  return {colour.red + Between(random, -by, by), colour.green + Between(random, -by, by),
          colour.blue + Between(random, -by, by)};
}

Colour Painted(const Colour& body, Paint paint) {
  if (paint == Paint::kBody) return body;
  if (paint == Paint::kDark) return {body.red / 3, body.green / 3, body.blue / 3};
  return {(body.red + 2 * 245) / 3, (body.green + 2 * 245) / 3, (body.blue + 2 * 240) / 3};
}

// Maps a pixel's centre to the square of the sketch: shifted, scaled, perhaps mirrored.
struct Placement {
  explicit Placement(KeyedRandom& random)
      : move_x(static_cast<float>(Between(random, -4, 4))),
        move_y(static_cast<float>(Between(random, -3, 3))),
        scale(static_cast<float>(Between(random, 14, 20)) * (1.0f / 16)),
        mirrored(random.NextBelow(2) == 1) {}

  float X(int column) const {
    const float x = (static_cast<float>(column) - 15.5f - move_x) * scale;
    return mirrored ? 16 - x : 16 + x;
  }
  float Y(int row) const { return 16 + (static_cast<float>(row) - 15.5f - move_y) * scale; }

  float move_x, move_y, scale;
  bool mirrored;
};

using Picture = std::array<Colour, kSide * kSide>;

void PaintBackground(const Sketch& sketch, KeyedRandom& random, Picture& picture) {
  const Colour above = Vary(random, sketch.above, 30);
  const Colour below = Vary(random, sketch.below, 30);
  for (int row = 0; row < kSide; ++row) {
    const auto mix = [row](int top, int bottom) {
      return (top * (kSide - 1 - row) + bottom * row) / (kSide - 1);
    };
    const Colour colour = {mix(above.red, below.red), mix(above.green, below.green),
                           mix(above.blue, below.blue)};
    std::fill_n(picture.begin() + row * kSide, kSide, colour);
  }
}

void PaintShapes(const Sketch& sketch, KeyedRandom& random, Picture& picture) {
  const Colour body = Vary(random, sketch.body, 45);
  const Placement placement(random);
  for (size_t i = 0; i < sketch.count; ++i) {
    const Shape& shape = sketch.shapes[i];
    const Colour colour = Painted(body, shape.paint);
    for (int row = 0; row < kSide; ++row) {
      const float y = placement.Y(row);
      for (int column = 0; column < kSide; ++column) {
        if (Contains(shape, placement.X(column), y)) picture[row * kSide + column] = colour;
      }
    }
  }
}

uint8_t Noisy(int value, uint32_t noise) {
  return static_cast<uint8_t>(std::clamp(value + static_cast<int>(noise & 31) - 16, 0, 255));
}

}  // namespace

void DrawPicture(uint32_t label, KeyedRandom& random, std::span<uint8_t, kPixels> out) {
  const Sketch& sketch = kSketches[label];
  Picture picture;
  PaintBackground(sketch, random, picture);
  PaintShapes(sketch, random, picture);
  for (size_t i = 0; i < picture.size(); ++i) {
    const uint32_t noise = random.NextU32();
    out[i] = Noisy(picture[i].red, noise);
    out[1024 + i] = Noisy(picture[i].green, noise >> 8);
    out[2048 + i] = Noisy(picture[i].blue, noise >> 16);
  }
}

}  // namespace recpack::stand_in
