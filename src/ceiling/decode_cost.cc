#include "src/ceiling/decode_cost.h"

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace recpack::ceiling {
namespace {

constexpr int kTerms = 3;
using Vector = std::array<double, kTerms>;

// Returns the terms of a point, relative to its seconds.
Vector MakeRow(const DecodePoint& point) {
  return {1 / point.seconds, point.bytes / point.seconds, point.pixels / point.seconds};
}

// Gaussian elimination with pivoting; terms that are left out are 0. Returns nullopt if the system
// is singular.
std::optional<Vector> Solve(std::array<Vector, kTerms> matrix, Vector right, unsigned terms) {
  for (int i = 0; i < kTerms; ++i) {
    if ((terms >> i & 1U) != 0) continue;
    matrix[i].fill(0);
    for (Vector& row : matrix) row[i] = 0;
    matrix[i][i] = 1;
    right[i] = 0;
  }
  Vector scale;
  for (int i = 0; i < kTerms; ++i) scale[i] = std::sqrt(matrix[i][i]);
  for (int i = 0; i < kTerms; ++i) {
    if (!(scale[i] > 0)) return std::nullopt;
    right[i] /= scale[i];
    for (int j = 0; j < kTerms; ++j) matrix[i][j] /= scale[i] * scale[j];
  }
  for (int i = 0; i < kTerms; ++i) {
    int pivot = i;
    for (int row = i; row < kTerms; ++row) {
      if (std::abs(matrix[row][i]) > std::abs(matrix[pivot][i])) pivot = row;
    }
    if (std::abs(matrix[pivot][i]) < 1e-9) return std::nullopt;
    std::swap(matrix[i], matrix[pivot]);
    std::swap(right[i], right[pivot]);
    for (int row = 0; row < kTerms; ++row) {
      if (row == i) continue;
      const double factor = matrix[row][i] / matrix[i][i];
      for (int j = i; j < kTerms; ++j) matrix[row][j] -= factor * matrix[i][j];
      right[row] -= factor * right[i];
    }
  }
  for (int i = 0; i < kTerms; ++i) right[i] /= matrix[i][i] * scale[i];
  return right;
}

}  // namespace

DecodeCost FitDecodeCost(std::span<const DecodePoint> points) {
  std::array<Vector, kTerms> matrix = {};
  Vector right = {};
  for (const DecodePoint& point : points) {
    const Vector row = MakeRow(point);
    for (int i = 0; i < kTerms; ++i) {
      for (int j = 0; j < kTerms; ++j) matrix[i][j] += row[i] * row[j];
      right[i] += row[i];
    }
  }
  DecodeCost best;
  double least = std::numeric_limits<double>::infinity();
  for (unsigned terms = 1; terms < 1U << kTerms; ++terms) {
    const auto solved = Solve(matrix, right, terms);
    if (!solved || (*solved)[0] < 0 || (*solved)[1] < 0 || (*solved)[2] < 0) continue;
    const DecodeCost cost{(*solved)[0], (*solved)[1], (*solved)[2]};
    double error = 0;
    for (const DecodePoint& point : points) {
      error += std::pow(cost.Seconds(point.bytes, point.pixels) / point.seconds - 1, 2);
    }
    if (error < least) least = error, best = cost;
  }
  return best;
}

}  // namespace recpack::ceiling
