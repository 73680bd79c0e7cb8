#include "compute/train/whitening.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab {
namespace {

constexpr std::int64_t kMostImages = 1000;
constexpr double kLeastVariance = 5e-4;  // is added to each component's

// A square matrix.
class Matrix {
 public:
  explicit Matrix(std::size_t size) : size_(size), values_(size * size) {}
  std::size_t size() const { return size_; }
  double& operator()(std::size_t row, std::size_t col) { return values_[row * size_ + col]; }
  double operator()(std::size_t row, std::size_t col) const { return values_[row * size_ + col]; }

 private:
  std::size_t size_;
  std::vector<double> values_;
};

// The covariance of the pixels of n x n patches. All sums are of integers, and so exact.
Matrix covariance_of_patches(const ImageSet& images, int n) {
  const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  const std::int64_t chosen = std::min(images.count, kMostImages);
  const std::int64_t image = std::int64_t{images.height} * images.width;
  std::vector<std::int64_t> sums(size), products(size * size), patch(size);
  for (std::int64_t i = 0; i < chosen; ++i) {
    const std::uint8_t* const pixels = images.pixels.data() + images.count * i / chosen * image;
    for (int y = 0; y + n <= images.height; ++y) {
      for (int x = 0; x + n <= images.width; ++x) {
        for (int j = 0; j < n; ++j) {
          std::copy_n(pixels + (y + j) * images.width + x, n, patch.begin() + j * n);
        }
        for (std::size_t a = 0; a < size; ++a) {
          sums[a] += patch[a];
          for (std::size_t b = 0; b <= a; ++b) products[a * size + b] += patch[a] * patch[b];
        }
      }
    }
  }
  const auto count = static_cast<double>(chosen * (images.height - n + 1) * (images.width - n + 1));
  Matrix covariance(size);
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      const double mean_a = static_cast<double>(sums[a]) / count;
      const double mean_b = static_cast<double>(sums[b]) / count;
      const double product = static_cast<double>(products[a * size + b]) / count;
      covariance(a, b) = covariance(b, a) = (product - mean_a * mean_b) / (255.0 * 255.0);
    }
  }
  return covariance;
}

// Rotates rows or columns p and q of a symmetric matrix, so that its element (p, q) becomes zero,
// and the same rows of `vectors`.
void rotate(Matrix& a, Matrix& vectors, std::size_t p, std::size_t q) {
  const double slope = (a(q, q) - a(p, p)) / (2 * a(p, q));
  const double tangent = std::copysign(1 / (std::abs(slope) + std::hypot(slope, 1.0)), slope);
  const double cosine = 1 / std::hypot(tangent, 1.0), sine = tangent * cosine;
  const auto turn = [&](double& x, double& y) {
    const double before = x;
    x = cosine * before - sine * y;
    y = sine * before + cosine * y;
  };
  for (std::size_t i = 0; i < a.size(); ++i) turn(a(i, p), a(i, q));
  for (std::size_t i = 0; i < a.size(); ++i) turn(a(p, i), a(q, i));
  for (std::size_t i = 0; i < a.size(); ++i) turn(vectors(p, i), vectors(q, i));
}

// Makes a symmetric matrix diagonal by Jacobi's rotations. Returns its eigenvectors as rows, in the
// order of the diagonal.
Matrix diagonalise(Matrix& a) {
  constexpr int kMostSweeps = 30;  // converges quadratically after a few
  Matrix vectors(a.size());
  double scale = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    vectors(i, i) = 1;
    scale += std::abs(a(i, i));
  }
  const double nothing = scale * 1e-16;
  for (int sweep = 0, rotations = 1; sweep < kMostSweeps && rotations > 0; ++sweep) {
    rotations = 0;
    for (std::size_t q = 1; q < a.size(); ++q) {
      for (std::size_t p = 0; p < q; ++p) {
        if (std::abs(a(p, q)) <= nothing) continue;
        rotate(a, vectors, p, q);
        ++rotations;
      }
    }
  }
  return vectors;
}

// The component's largest weight is positive: eigenvectors have no sign of their own.
double sign_of(const Matrix& vectors, std::size_t row) {
  double largest = 0;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    if (std::abs(vectors(row, i)) > std::abs(largest)) largest = vectors(row, i);
  }
  return largest < 0 ? -1 : 1;
}

}  // namespace

void whiten_first_layer(nn::Network& network, const ImageSet& images) {
  nn::Parameter& weight = network.parameters().front();
  const auto n = static_cast<int>(weight.shape.back());
  const bool convolves = weight.shape.size() == 4 && weight.shape[1] == 1;
  if (!convolves || images.count == 0 || images.height < n || images.width < n) {
    throw Error(Errc::InvalidArgument, trf("whitening: {} images do not fit the first layer of {}",
                                           images.count, network.plan().name));
  }
  Matrix covariance = covariance_of_patches(images, n);
  const Matrix components = diagonalise(covariance);
  std::vector<std::size_t> order(components.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return covariance(a, a) > covariance(b, b); });
  const auto filters = std::min(static_cast<std::size_t>(weight.shape[0]), 2 * order.size());
  for (std::size_t filter = 0; filter < filters; ++filter) {
    const std::size_t row = order[filter / 2];
    const double variance = std::max(covariance(row, row), 0.0) + kLeastVariance;
    const double sign = filter % 2 == 0 ? sign_of(components, row) : -sign_of(components, row);
    float* const to = weight.value + filter * components.size();  // one channel: in either layout
    for (std::size_t i = 0; i < components.size(); ++i) {
      to[i] = static_cast<float>(sign * components(row, i) / std::sqrt(variance));
    }
  }
}

}  // namespace lab
