// "Synthetic garments": a ten-class set that needs no download. Image i of a set depends on the
// seed and i alone, so a shorter set is the beginning of a longer one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "compute/core/error.h"
#include "compute/data/dataset.h"
#include "compute/data/draws.h"
#include "compute/data/fashion_files.h"
#include "compute/data/garment_painter.h"

namespace lab {
namespace {

constexpr int kClasses = 10;
constexpr std::int64_t kMaxImages = 10'000'000;  // about 8 GB of pixels
constexpr std::int64_t kImagesPerReport = 1024;
// Keep these apart from every other use of the seed: the upper words of the Philox counter.
constexpr std::uint32_t kTrainStream = 0x6761'7201, kTestStream = 0x6761'7202;
constexpr std::uint32_t kOrderStream = 0x100;

// Each ten images in a row hold every class once, in random order.
std::array<std::uint8_t, kClasses> shuffled_classes(Draws draws) {
  std::array<std::uint8_t, kClasses> order{};
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  for (std::uint32_t i = kClasses; i > 1; --i) std::swap(order[i - 1], order[draws.below(i)]);
  return order;
}

void check_count(const char* what, std::int64_t count) {
  if (count < 0 || count > kMaxImages) {
    throw Error(Errc::InvalidArgument,
                fmt::format("synthetic garments: {} {} images were asked for; 0 to {} can be made",
                            count, what, kMaxImages));
  }
}

template <typename Report>
ImageSet make_set(std::int64_t count, std::uint64_t seed, std::uint32_t stream, Report report) {
  ImageSet set;
  set.count = count;
  set.synthetic = true;
  set.pixels.resize(static_cast<std::size_t>(count) * GarmentPainter::kPixels);
  set.labels.resize(static_cast<std::size_t>(count));
  GarmentPainter painter;
  std::array<std::uint8_t, kClasses> order{};
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    if (i % kImagesPerReport == 0) report(i);
    if (i % kClasses == 0) order = shuffled_classes({seed, stream + kOrderStream, index});
    const std::uint8_t label = order[index % kClasses];
    Draws draws(seed, stream, index);
    painter.paint(
        label, draws,
        std::span<std::uint8_t, GarmentPainter::kPixels>(
            set.pixels.data() + index * GarmentPainter::kPixels, GarmentPainter::kPixels));
    set.labels[index] = label;
  }
  return set;
}

}  // namespace

Dataset make_synthetic_garments(std::int64_t train, std::int64_t test, std::uint64_t seed,
                                const std::function<void(double)>& progress) {
  check_count("training", train);
  check_count("test", test);
  const double total = static_cast<double>(std::max<std::int64_t>(train + test, 1));
  const auto report = [&](std::int64_t done) {
    if (progress) progress(static_cast<double>(done) / total);
  };
  Dataset data;
  data.name = "synthetic garments";
  data.class_names = fashion_class_names();
  data.synthetic = true;
  data.train = make_set(train, seed, kTrainStream, report);
  data.test = make_set(test, seed, kTestStream, [&](std::int64_t i) { report(train + i); });
  report(train + test);
  return data;
}

}  // namespace lab
