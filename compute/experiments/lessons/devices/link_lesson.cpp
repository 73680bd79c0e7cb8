// Lesson "link": a copy costs its latency as well as its bytes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/lessons/devices/device_lessons.h"
#include "compute/tensor/elementwise.h"
#include "compute/tensor/tensor.h"

namespace lab::lessons {
namespace {

constexpr std::int64_t kLargest = 64 * kMiB;
constexpr std::int64_t kPiece = 64 * kKiB;
constexpr std::int64_t kPieces = kLargest / kPiece;

struct CopyLink {
  DeviceContext& from;
  DeviceContext& to;
  std::string name() const {
    return trf("{} to {}", to_string(from.device()), to_string(to.device()));
  }
};

struct LinkTimes {
  Timing empty, kib, mib, whole;  // of 64 B, 1 KiB, 1 MiB and 64 MiB, one size after the other
};

// Samples the copies of 1 KiB to 64 MiB. Each continues where the one before ended, so that a small
// copy does not find its bytes in the nearest cache.
LinkTimes measure_link(LessonStage& stage, const CopyLink& link) {
  const Tensor x = rand(link.from, {kLargest / 4}, 1);
  Tensor y(link.to, x.shape(), x.dtype(), "copy");
  copy_range(x, y, 0, x.size());  // touches the memory
  const auto copy = [&](std::int64_t bytes) {
    std::int64_t begin = 0;
    return stage.time(
        [&] {
          copy_range(x, y, begin, begin + bytes / 4);
          begin = (begin + bytes / 4) % x.size();
        },
        0.12);
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
    if (bytes == kKiB) times.kib = time;
    if (bytes == kMiB) times.mib = time;
    stage.sample({.series = link.name(),
                  .x = static_cast<double>(bytes),
                  .x_unit = "B",
                  .value = time.median_s,
                  .unit = "s",
                  .time = time});
  }
  return times;
}

// The ratio alone: the time of one copy differs from that of the curve, which is the answer.
std::string conclusion(const CopyLink& link, const Timing& empty, const Timing& pieces,
                       const Timing& whole) {
  constexpr double kAlike = 1.1;
  const double ratio = pieces.median_s / whole.median_s;
  const std::string latency = time_text(empty);
  if (is_unsteady(pieces) || is_unsteady(whole)) {
    return trf(
        "From {}, an empty copy takes {}; in turns, 64 MiB took {} in {} pieces and {} in "
        "one.",
        link.name(), latency, time_text(pieces), kPieces, time_text(whole));
  }
  return ratio < kAlike && ratio > 1 / kAlike
             ? trf("From {}, an empty copy takes {}; cutting 64 MiB into {} pieces cost nothing "
                   "here: {:.2f} times the time of one copy.",
                   link.name(), latency, kPieces, ratio)
             : trf("From {}, an empty copy takes {}; 64 MiB took {:.2f} times as long in {} pieces "
                   "as in one.",
                   link.name(), latency, ratio, kPieces);
}

// One copy of 64 MiB and the same bytes in copies of 64 KiB, in alternation.
void compare_pieces(LessonStage& stage, const CopyLink& link, const LinkTimes& sweep) {
  const Timing& empty = sweep.empty;
  const Tensor x = rand(link.from, {kLargest / 4}, 1);
  Tensor y(link.to, x.shape(), x.dtype(), "copy");
  std::vector<std::function<void()>> ways;
  ways.emplace_back([&] { copy_range(x, y, 0, x.size()); });
  ways.emplace_back([&] {
    for (std::int64_t i = 0; i < kPieces; ++i) {
      copy_range(x, y, i * kPiece / 4, (i + 1) * kPiece / 4);
    }
  });
  // Between CPU devices, one thread copies small pieces.
  if (!is_gpu(x.device()) && !is_gpu(y.device()) && link.to.threads().size() > 1) {
    ways.emplace_back([&] { std::memcpy(y.data(), x.data(), kLargest); });
  }
  const std::vector<Timing> times = stage.time_together(ways, 0.4);
  const Timing &whole = times[0], &pieces = times[1];
  const double one_thread_s = times.size() > 2 ? times[2].median_s : whole.median_s;
  const std::string series = trf("{} copies of 64 KiB, {}", kPieces, link.name());
  LessonPrediction prediction;
  prediction.series = series;
  prediction.value = whole.median_s + (kPieces - 1) * empty.median_s;
  prediction.unit = "s";
  prediction.formula = trf("one copy of 64 MiB + {} latencies", kPieces - 1);
  prediction.constants = {{tr("one copy"), whole.median_s, "s"},
                          {tr("latency"), empty.median_s, "s"}};
  stage.predict(prediction);
  stage.sample({.series = trf("one copy of 64 MiB beside them, {}", link.name()),
                .value = whole.median_s,
                .unit = "s",
                .time = whole});
  stage.sample({.series = series, .value = pieces.median_s, .unit = "s", .time = pieces});
  stage.gap({series,
             "s",
             prediction.value,
             pieces.median_s,
             {{tr("one thread"), std::max(0.0, one_thread_s - whole.median_s)}}});
  stage.conclude(conclusion(link, empty, pieces, whole));
  stage.explain(trf(
      "All times are medians. The curve times one size after the other and found {} for 64 MiB "
      "(runs: {}); the two ways then took turns (runs: {}), so that other programs disturb both "
      "alike. Compare within one of the two measurements. The bytes are those of one array; "
      "within main memory the Transfers page counts them read and written, twice as many GB/s.",
      format_seconds(sweep.whole.median_s), sweep.whole.n, whole.n));
}

// A copy whose usual time is far above its fastest repetition was disturbed, and so was a large one
// that takes far longer than the same bytes in copies of 1 MiB.
void judge_copies(LessonStage& stage, const CopyLink& link, const LinkTimes& times) {
  const auto disturbed = [&](std::int64_t bytes, const Timing& time, double expected_s,
                             double most) {
    const std::string what = trf("one copy of {}, {}", format_bytes(bytes), link.name());
    return stage.too_busy(what, expected_s, time.median_s, most);
  };
  if (disturbed(kKiB, times.kib, times.kib.min_s, 1.5)) return;
  if (disturbed(kMiB, times.mib, times.mib.min_s, 1.5)) return;
  constexpr std::int64_t kMibs = kLargest / kMiB;
  const double in_mib_s = static_cast<double>(kMibs) * times.mib.median_s;
  disturbed(kLargest, times.whole, std::min(times.whole.min_s, in_mib_s), 1.25);
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
  stage.answer({first->kib.median_s, first->mib.median_s, first->whole.median_s});
  judge_copies(stage, links.front(), *first);
  stage.step(1);
  compare_pieces(stage, links.front(), *first);
}

}  // namespace

Lesson link_lesson() {
  LessonInfo info;
  info.name = "link";
  info.title = LAB_TEXT("What a copy costs");
  info.chooses_devices = true;
  info.devices = 2;
  info.text = {LAB_TEXT("A copy costs time before its first byte moves: a call, a wake-up, a "
                        "request over the link. "
                        "This part, the latency, does not depend on the size."),
               LAB_TEXT("The rest grows with the bytes: time = latency + bytes / bandwidth. Small "
                        "copies pay mostly for asking, large ones for moving."),
               LAB_TEXT("Many copies of few bytes pay the latency many times: to a GPU they take "
                        "far longer than one copy of all bytes, between CPU devices about as "
                        "long.")};
  info.steps = {
      {LAB_TEXT("Copies of 1 KiB to 64 MiB, each of different data"),
       {"Y.copy_(X)", "X.copyto(Y)", "Y.assign(X)", "jax.device_put(X, device)", "copy(X, Y)"}},
      {LAB_TEXT("1024 pieces"),
       {"for i in range(1024): y[i].copy_(x[i])", "for i in range(1024): x[i].copyto(y[i])",
        "for i in range(1024): y[i].assign(x[i])",
        "for i in range(1024): jax.device_put(x[i], device)",
        "for (int i = 0; i < 1024; ++i) copy(x[i], y[i])"}}};
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
