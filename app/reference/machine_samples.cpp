#include "app/reference/machine_samples.h"

#include <array>
#include <limits>

#include "app/reference/json_list.h"
#include "compute/types/error.h"

namespace lab::app {
namespace {

using files::JsonFields;

constexpr std::array kPrecisions = {Precision::F32, Precision::BF16, Precision::TF32};
constexpr std::array kMemories = {MemoryKind::Pageable, MemoryKind::Pinned, MemoryKind::OnCard};
constexpr std::array kOps = {TransferOp::Read,  TransferOp::Write,  TransferOp::Copy,
                             TransferOp::Triad, TransferOp::Both,   TransferOp::Pieces,
                             TransferOp::Chase, TransferOp::Overlap};
constexpr std::array kMovers = {TransferMover::Threads, TransferMover::CopyEngine,
                                TransferMover::Kernel};
constexpr std::array kPeerWays = {PeerWay::Write, PeerWay::Read, PeerWay::WriteThroughHost,
                                  PeerWay::ReadThroughHost};

Device device_in(const JsonFields& fields, const char* field) {
  const std::string name = fields.text(field);
  try {
    return parse_device(name);
  } catch (const Error& e) {
    fields.refuse(e.what());
  }
}

int threads_in(const JsonFields& fields) {
  const std::int64_t threads = fields.count("threads");
  if (threads > std::numeric_limits<int>::max()) fields.refuse("\"threads\" is too large");
  return static_cast<int>(threads);
}

Timing timing_in(const JsonFields& fields) {
  Timing time;
  time.median_s = fields.positive("median_s");
  time.p10_s = fields.positive("p10_s");
  time.p90_s = fields.positive("p90_s");
  if (time.p10_s > time.median_s || time.median_s > time.p90_s) {
    fields.refuse("\"p10_s\", \"median_s\" and \"p90_s\" do not ascend");
  }
  time.n = fields.count("samples");
  time.warmup = fields.count("warmup", 0);
  time.unstable = fields.flag("unstable");
  return time;
}

bool verified_in(const JsonFields& fields) {
  if (!fields.flag("verified")) fields.refuse("the sample is not verified");
  return true;
}

Conditions conditions_in(const JsonFields& fields) {
  Conditions conditions;
  if (const auto clock = fields.number_or_null("clock_mhz")) conditions.clock_mhz = *clock;
  return conditions;
}

// What samples and fits of a transfer share.
template <typename Result>
Result transfer_in(const JsonFields& fields) {
  Result r;
  r.from = device_in(fields, "from");
  r.to = device_in(fields, "to");
  r.memory = fields.one_of("memory", kMemories);
  r.op = fields.one_of("op", kOps);
  r.mover = fields.one_of("mover", kMovers);
  if (fields.has("peer")) r.peer = fields.one_of("peer", kPeerWays);
  r.threads = threads_in(fields);
  r.gb_per_s = fields.positive("gb_per_s");
  return r;
}

ComputeCeiling compute_ceiling(const JsonFields& fields) {
  return {.name = fields.text("name"),
          .dtype = fields.one_of("dtype", kPrecisions),
          .threads = threads_in(fields),
          .gflops = fields.positive("gflops"),
          .time = timing_in(fields)};
}

BandwidthCeiling bandwidth_ceiling(const JsonFields& fields) {
  return {.name = fields.text("name"),
          .cache_bytes = fields.count("cache_bytes", 0),
          .working_set_bytes = fields.count("working_set_bytes"),
          .gb_per_s = fields.positive("gb_per_s"),
          .median_gb_per_s = fields.positive("median_gb_per_s"),
          .p10_gb_per_s = fields.positive("p10_gb_per_s"),
          .p90_gb_per_s = fields.positive("p90_gb_per_s"),
          .time = timing_in(fields)};
}

}  // namespace

MatmulSample matmul_sample(const JsonFields& fields) {
  MatmulSample s;
  s.device = device_in(fields, "device");
  s.kernel = fields.text("kernel");
  s.library = fields.flag("library");
  s.dtype = fields.one_of("dtype", kPrecisions);
  s.m = fields.count("m");
  s.n = fields.count("n");
  s.k = fields.count("k");
  s.time = timing_in(fields);
  s.gflops = fields.positive("gflops");
  s.verified = verified_in(fields);
  s.share_of_library = fields.number_or_null("share_of_library");
  s.share_of_peak = fields.number_or_null("share_of_peak");
  s.max_error = fields.not_negative("max_error");
  s.conditions = conditions_in(fields);
  return s;
}

PeakSample peak_sample(const JsonFields& fields) {
  PeakSample s;
  s.device = device_in(fields, "device");
  s.dtype = fields.one_of("dtype", kPrecisions);
  s.threads = threads_in(fields);
  s.time = timing_in(fields);
  s.gflops = fields.positive("gflops");
  return s;
}

CeilingsMeasured ceilings_measured(const JsonFields& fields) {
  CeilingsMeasured c;
  c.device = device_in(fields, "device");
  c.threads = threads_in(fields);
  c.compute = read_list(fields, "compute", compute_ceiling);
  c.bandwidth = read_list(fields, "bandwidth", bandwidth_ceiling);
  return c;
}

TransferSample transfer_sample(const JsonFields& fields) {
  auto s = transfer_in<TransferSample>(fields);
  s.bytes = fields.count("bytes");
  s.time = timing_in(fields);
  s.verified = verified_in(fields);
  s.conditions = conditions_in(fields);
  return s;
}

TransferFit transfer_fit(const JsonFields& fields) {
  auto f = transfer_in<TransferFit>(fields);
  f.latency_s = fields.not_negative("latency_s");
  f.r2 = fields.number_or_null("r2").value_or(0);
  f.half_bandwidth_bytes = fields.count("half_bandwidth_bytes", 0);
  f.break_even_bytes = fields.count_or_null("break_even_bytes");
  return f;
}

}  // namespace lab::app
