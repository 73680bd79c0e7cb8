// Lesson "link": a copy costs its latency as well as its bytes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/lessons/devices/device_lessons.h"
#include "compute/tensor/elementwise.h"
#include "compute/tensor/tensor.h"

namespace lab::lessons {
namespace {

constexpr std::int64_t kLargest = 64 * kMiB;
constexpr double kPieces = 1000;

struct CopyLink {
  DeviceContext& from;
  DeviceContext& to;
  std::string name() const {
    return trf("{} to {}", to_string(from.device()), to_string(to.device()));
  }
};

struct LinkTimes {
  Timing empty, whole;  // of 64 B and of 64 MiB
  double kib_s = 0, mib_s = 0;
};

// Samples the copies of 1 KiB to 64 MiB.
LinkTimes measure_link(LessonStage& stage, const CopyLink& link) {
  const Tensor x = rand(link.from, {kLargest / 4}, 1);
  Tensor y(link.to, x.shape(), x.dtype(), "copy");
  const auto copy = [&](std::int64_t bytes) {
    return stage.time([&] { copy_range(x, y, 0, bytes / 4); }, 0.12);
  };
  LinkTimes times;
  times.empty = copy(64);
  times.whole = copy(kLargest);
  const double rate =
      static_cast<double>(kLargest) / std::max(1e-12, times.whole.median_s - times.empty.median_s);
  for (std::int64_t bytes = kKiB; bytes <= kLargest; bytes *= 4) {
    LessonPrediction prediction;
    prediction.series = link.name();
    prediction.x = static_cast<double>(bytes);
    prediction.x_unit = "B";
    prediction.value = times.empty.median_s + static_cast<double>(bytes) / rate;
    prediction.unit = "s";
    prediction.formula = tr("latency + bytes / bandwidth");
    prediction.constants = {{tr("latency"), times.empty.median_s, "s"},
                            {tr("bandwidth"), rate, "B/s"}};
    stage.predict(prediction);
    const Timing time = bytes == kLargest ? times.whole : copy(bytes);
    if (bytes == kKiB) times.kib_s = time.median_s;
    if (bytes == kMiB) times.mib_s = time.median_s;
    stage.sample({.series = link.name(),
                  .x = static_cast<double>(bytes),
                  .x_unit = "B",
                  .value = time.median_s,
                  .unit = "s",
                  .time = time});
  }
  return times;
}

// What the copy of 64 MiB between CPU devices takes longer on one thread, which copies small
// pieces.
double one_thread_excess(LessonStage& stage, const CopyLink& link, double whole_s) {
  if (link.from.gpu() != nullptr || link.to.gpu() != nullptr) return 0;
  const Tensor x = rand(link.from, {kLargest / 4}, 1);
  Tensor y(link.to, x.shape(), x.dtype(), "copy");
  const Timing one = stage.time([&] { std::memcpy(y.data(), x.data(), kLargest); }, 0.2);
  return std::max(0.0, one.median_s - whole_s);
}

// One copy of 64 MiB against a thousand copies of a thousandth each; returns the time of the
// latter.
double compare_pieces(LessonStage& stage, const CopyLink& link, const LinkTimes& times) {
  const Tensor x = rand(link.from, {kLargest / 4}, 1);
  Tensor y(link.to, x.shape(), x.dtype(), "copy");
  const std::int64_t step = x.size() / static_cast<std::int64_t>(kPieces);
  const Timing pieces = stage.time(
      [&] {
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(kPieces); ++i) {
          copy_range(x, y, i * step, (i + 1) * step);
        }
      },
      0.4);
  const std::string series = trf("1000 copies of 64 KiB, {}", link.name());
  LessonPrediction prediction;
  prediction.series = series;
  prediction.value = times.whole.median_s + (kPieces - 1) * times.empty.median_s;
  prediction.unit = "s";
  prediction.formula = tr("one copy of 64 MiB + 999 latencies");
  prediction.constants = {{tr("one copy"), times.whole.median_s, "s"},
                          {tr("latency"), times.empty.median_s, "s"}};
  stage.predict(prediction);
  stage.sample({.series = trf("one copy of 64 MiB, {}", link.name()),
                .value = times.whole.median_s,
                .unit = "s",
                .time = times.whole});
  stage.sample({.series = series, .value = pieces.median_s, .unit = "s", .time = pieces});
  stage.gap({series,
             "s",
             prediction.value,
             pieces.median_s,
             {{tr("one thread"), one_thread_excess(stage, link, times.whole.median_s)}}});
  return pieces.median_s;
}

void run_link_lesson(LessonStage& stage) {
  std::vector<CopyLink> links;
  const std::size_t used = std::min<std::size_t>(stage.devices().size(), 3);
  for (std::size_t from = 0; from < used; ++from) {
    for (std::size_t to = 0; to < used; ++to) {
      if (from != to || used == 1) links.push_back({stage.at(from), stage.at(to)});
    }
  }
  stage.step(0);
  std::optional<LinkTimes> first;
  for (const CopyLink& link : links) {
    const LinkTimes times = measure_link(stage, link);
    if (!first) first = times;
  }
  stage.answer({first->kib_s, first->mib_s, first->whole.median_s});
  stage.step(1);
  const double pieces_s = compare_pieces(stage, links.front(), *first);
  stage.conclude(
      trf("From {}, an empty copy takes {}; 1000 small copies took {}, one large copy of the "
          "same bytes {}.",
          links.front().name(), format_seconds(first->empty.median_s), format_seconds(pieces_s),
          format_seconds(first->whole.median_s)));
}

}  // namespace

Lesson link_lesson() {
  LessonInfo info;
  info.name = "link";
  info.title = LAB_TEXT("What a copy costs");
  info.devices = 2;
  info.text = {LAB_TEXT("A copy costs time before its first byte moves: a call, a wake-up, a "
                        "request over the link. "
                        "This part, the latency, does not depend on the size."),
               LAB_TEXT("The rest grows with the bytes: time = latency + bytes / bandwidth. Small "
                        "copies pay mostly "
                        "for asking, large ones for moving."),
               LAB_TEXT("So many copies of few bytes pay the latency many times. To a GPU they "
                        "take far longer than one copy of all bytes; between CPU devices, which "
                        "share the main memory, about as long.")};
  info.steps = {
      {LAB_TEXT("Copies of 1 KiB to 64 MiB"),
       {"Y.copy_(X)", "X.copyto(Y)", "Y.assign(X)", "jax.device_put(X, device)", "copy(X, Y)"}},
      {LAB_TEXT("1000 pieces"),
       {"for i in range(1000): y[i].copy_(x[i])", "for i in range(1000): x[i].copyto(y[i])",
        "for i in range(1000): y[i].assign(x[i])",
        "for i in range(1000): jax.device_put(x[i], device)",
        "for (int i = 0; i < 1000; ++i) copy(x[i], y[i])"}}};
  info.question = {
      .text = LAB_TEXT("How long do copies of 1 KiB, 1 MiB and 64 MiB take?"),
      .unit = "s",
      .low = 1e-8,
      .high = 1,
      .at = {static_cast<double>(kKiB), static_cast<double>(kMiB), static_cast<double>(64 * kMiB)},
      .at_unit = "B",
      .why = LAB_TEXT("A copy takes latency + bytes / bandwidth: the latency decides for small "
                      "copies, the bandwidth for large ones.")};
  info.figure = LessonFigure::Curves;
  info.x_label = LAB_TEXT("bytes");
  info.y_label = LAB_TEXT("time per copy");
  StartTransfers free;
  free.ops = {TransferOp::Copy, TransferOp::Pieces};
  info.free = free;
  return {info, run_link_lesson};
}

}  // namespace lab::lessons
