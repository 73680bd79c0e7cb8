#include "app/window/reference/machine_samples.h"

#include <array>
#include <limits>

#include "compute/core/error.h"

namespace lab::app {
namespace {

using files::JsonFields;

constexpr std::array kMovers = {TransferMover::Threads, TransferMover::CopyEngine,
                                TransferMover::Kernel};
constexpr std::array kPeerWays = {PeerWay::Write, PeerWay::Read, PeerWay::WriteThroughHost,
                                  PeerWay::ReadThroughHost};

Device device_in(const JsonFields& fields, const char* field) {
  const std::string name = fields.line(field);
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

}  // namespace

MatmulSample matmul_sample(const JsonFields& fields) {
  MatmulSample s;
  s.device = device_in(fields, "device");
  s.kernel = fields.line("kernel");
  s.library = fields.flag("library");
  s.dtype = fields.one_of("dtype", enum_values<Precision>());
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

TransferSample transfer_sample(const JsonFields& fields) {
  TransferSample s;
  s.from = device_in(fields, "from");
  s.to = device_in(fields, "to");
  s.memory = fields.one_of("memory", enum_values<MemoryKind>());
  s.op = fields.one_of("op", enum_values<TransferOp>());
  s.mover = fields.one_of("mover", kMovers);
  if (fields.has("peer")) s.peer = fields.one_of("peer", kPeerWays);
  s.threads = threads_in(fields);
  s.bytes = fields.count("bytes");
  s.time = timing_in(fields);
  s.gb_per_s = fields.positive("gb_per_s");
  s.verified = verified_in(fields);
  s.conditions = conditions_in(fields);
  return s;
}

}  // namespace lab::app
