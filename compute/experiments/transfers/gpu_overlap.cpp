#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/transfers/transfer_case.h"
#include "compute/experiments/transfers/transfer_memory.h"
#include "compute/machine/machine.h"
#include "compute/measure/gated_clock.h"

namespace lab {
namespace {

constexpr std::int64_t kMaxPart_bytes = 64 * kMiB;
constexpr std::int64_t kPartAlignment_bytes = 16;
constexpr int kParts = 4;
constexpr int kRuns = 5;
constexpr int kStages = 3;
constexpr std::array<const char*, kStages> kStageNames = {LAB_TEXT("copy in"), LAB_TEXT("compute"),
                                                          LAB_TEXT("copy out")};
constexpr std::int64_t kTrialRounds = 20000;
constexpr std::uint32_t kSeed = 3;

class Pipeline {
 public:
  Pipeline(RunContext& ctx, Device gpu, std::int64_t bytes)
      : context_(ctx.machine().at(gpu)),
        gpu_(*context_.gpu()),
        host_(ctx.machine().at(cpu())),
        bytes_(bytes),
        stop_(ctx.stop_token()),
        in_(host_, MemoryKind::Pinned, gpu_, kParts * bytes, stop_),
        out_(host_, MemoryKind::Pinned, gpu_, kParts * bytes, stop_),
        data_(context_, MemoryKind::OnGpu, gpu_, kParts * bytes, stop_),
        sink_(context_, MemoryKind::OnGpu, gpu_, 4 * gpu_.transfers().work_words(), stop_),
        clock_(gpu_, kStages) {
    in_.fill(kSeed);
    out_.poison();
    for (Piece& piece : pieces_) piece = {gpu_.make_event(), gpu_.make_event()};
  }

  // Chooses the rounds of work so that it takes as long as one copy in.
  void match_work_to_copy() {
    rounds_ = kTrialRounds;
    // A stream's first work may wait for the GPU, so it must not be queued behind a gate.
    for (int stage = 0; stage < kStages; ++stage) {
      queue(stage, 0, clock_.stream(stage));
      clock_.stream(stage).synchronise();
    }
    const double copy_s = seconds([&] { queue(0, 0, clock_.stream(0)); });
    const double work_s = seconds([&] { queue(1, 0, clock_.stream(0)); });
    const double wanted = static_cast<double>(kTrialRounds) * copy_s / std::max(work_s, 1e-9);
    rounds_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted));
  }

  double serial() {
    return seconds([&] {
      for (int part = 0; part < kParts; ++part) {
        for (int stage = 0; stage < kStages; ++stage) queue(stage, part, clock_.stream(0));
      }
    });
  }

  double overlapped() {
    return clock_.gated([&](int stage) {
      GpuStream& stream = clock_.stream(stage);
      for (int part = 0; part < kParts; ++part) {
        if (stage > 0) stream.wait(*piece(stage - 1, part).end);
        piece(stage, part).begin->record(stream);
        queue(stage, part, stream);
        piece(stage, part).end->record(stream);
      }
    });
  }

  std::vector<TransferSpan> spans() {
    std::vector<TransferSpan> rows;
    for (int stage = 0; stage < kStages; ++stage) {
      const char* const name = kStageNames[static_cast<std::size_t>(stage)];
      for (int part = 0; part < kParts; ++part) {
        const Piece& one = piece(stage, part);
        rows.push_back({name, fmt::format("{} {}", name, part + 1),
                        one.begin->seconds_since(clock_.begin()),
                        one.end->seconds_since(clock_.begin())});
      }
    }
    return rows;
  }

  // Invalidates the results of earlier runs, so that wrong_words() covers only the runs since.
  void poison() {
    data_.poison();
    out_.poison();
  }
  std::int64_t wrong_words() { return out_.count_mismatches(kSeed); }

 private:
  struct Piece {
    std::unique_ptr<GpuEvent> begin, end;
  };
  Piece& piece(int stage, int part) {
    return pieces_[static_cast<std::size_t>(stage) * kParts + static_cast<std::size_t>(part)];
  }
  template <typename Queue>
  double seconds(const Queue& queue_all) {
    return clock_.gated([&](int stream) {
      if (stream == 0) queue_all();
    });
  }
  void queue(int stage, int part, GpuStream& stream) {
    std::byte* const data = data_.data() + part * bytes_;
    if (stage == 0) {
      gpu_.copy(GpuCopy::HostToDevice, data, in_.data() + part * bytes_, bytes_, stream);
    } else if (stage == 1) {
      gpu_.transfers().work(rounds_, reinterpret_cast<float*>(sink_.data()), stream);
    } else {
      gpu_.copy(GpuCopy::DeviceToHost, out_.data() + part * bytes_, data, bytes_, stream);
    }
  }

  DeviceContext& context_;
  GpuDevice& gpu_;
  DeviceContext& host_;
  const std::int64_t bytes_;
  const std::stop_token stop_;
  TransferMemory in_, out_, data_, sink_;
  std::array<Piece, kStages * kParts> pieces_;
  std::int64_t rounds_ = 0;
  GatedClock clock_;  // declared last: its destructor waits for work that uses the memory
};

struct OverlapRun {
  double seconds = 0;
  std::vector<TransferSpan> spans;
};

// The run of median time out of kRuns; run_one() performs one run.
template <typename RunOne>
OverlapRun median_run(RunContext& ctx, const RunOne& run_one) {
  run_one();  // warm-up
  std::array<OverlapRun, kRuns> runs;
  for (OverlapRun& run : runs) {
    ctx.throw_if_cancelled();
    run = run_one();
  }
  const auto middle = runs.begin() + kRuns / 2;
  std::nth_element(runs.begin(), middle, runs.end(),
                   [](const OverlapRun& a, const OverlapRun& b) { return a.seconds < b.seconds; });
  return std::move(*middle);
}

TransferTimeline measure_overlap(RunContext& ctx, Device gpu, std::int64_t bytes) {
  Pipeline pipeline(ctx, gpu, bytes);
  ctx.throw_if_cancelled();
  pipeline.match_work_to_copy();
  const OverlapRun serial = median_run(ctx, [&] { return OverlapRun{pipeline.serial(), {}}; });
  pipeline.poison();
  OverlapRun overlapped = median_run(ctx, [&] {
    const double seconds = pipeline.overlapped();
    return OverlapRun{seconds, pipeline.spans()};
  });
  const std::int64_t wrong = pipeline.wrong_words();
  ctx.throw_if_cancelled();
  if (wrong != 0) {
    throw Error(Errc::Internal, trf("overlap on {}, {} per part: {} words are wrong; not timed",
                                    to_string(gpu), format_bytes(bytes), wrong));
  }
  return {.device = gpu,
          .bytes = bytes,
          .runs = kRuns,
          .spans = std::move(overlapped.spans),
          .overlapped_s = overlapped.seconds,
          .serial_s = serial.seconds};
}

}  // namespace

void emit_overlap(RunContext& ctx, Device gpu, std::int64_t bytes) {
  const std::int64_t part =
      std::max(kPartAlignment_bytes,
               std::min(bytes, kMaxPart_bytes) / kPartAlignment_bytes * kPartAlignment_bytes);
  ctx.checkpoint();
  try {
    ctx.emit(measure_overlap(ctx, gpu, part));
  } catch (const Error& error) {
    if (error.code() != Errc::OutOfMemory) throw;
    ctx.emit(Skipped{trf("overlap on {}, {} per part", to_string(gpu), format_bytes(part)),
                     error.what()});
  }
}

}  // namespace lab
