#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/transfers/transfer_case.h"
#include "compute/gpu/gpu_transfers.h"
#include "compute/measure/measure.h"
#include "compute/tensor/buffer.h"

namespace lab {
namespace {

constexpr std::int64_t kLine = 8;                 // doubles per cache line
constexpr std::int64_t kPiece_doubles = 1 << 18;  // doubles between polls of the stop token
constexpr double kFactor = 3;                     // of triad; exact with integers
constexpr double kPoisoned = -1;                  // produced by no operation

// Random integers below 2^32 that depend only on the position and the array.
double random_value(std::int64_t i, std::uint32_t array) {
  return static_cast<double>(pattern_word(i, array));
}

int sources_of(TransferOp op) {
  switch (op) {
    case TransferOp::Write: return 0;
    case TransferOp::Triad: return 2;
    default: return 1;
  }
}

class CpuCase final : public TransferCase {
 public:
  CpuCase(Machine& machine, const TransferSeries& series, std::int64_t bytes, std::stop_token stop,
          const StreamKernels& kernels);
  void operate() override;
  void poison() override;
  // Does not read the sources.
  std::string check() override;
  Timing time(const RunContext& ctx, const SampleSettings& settings) override;
  Conditions conditions() const override;

 private:
  struct alignas(64) Sum {
    std::uint64_t value = 0;
  };
  // Calls body(thread, begin, end) on each thread's part, in blocks short enough to stop between.
  template <typename Body>
  void for_parts(DeviceContext& device, int threads, const Body& body);
  double* result() { return reinterpret_cast<double*>(result_.data()); }
  double* source(std::size_t i) { return reinterpret_cast<double*>(sources_[i].data()); }
  void allocate(std::int64_t bytes);
  void fill_sources();
  double expected(std::int64_t i) const;

  DeviceContext& from_;
  DeviceContext& to_;
  const TransferSeries series_;
  const std::int64_t n_;  // elements
  const std::stop_token stop_;
  const StreamKernels& kernels_;
  const Stores stores_;
  std::vector<Buffer> sources_;
  Buffer result_;
  std::vector<Sum> sums_;           // of read, one per thread
  std::uint64_t expected_sum_ = 0;  // of read
  double value_ = 0;                // of write; differs in each operation
  const ThreadPool::Guard bound_;
};

template <typename Body>
void CpuCase::for_parts(DeviceContext& device, int threads, const Body& body) {
  const auto part = [&](int t) {
    const std::int64_t lines = n_ / kLine;
    const std::int64_t begin = lines * t / threads * kLine;
    const std::int64_t end = t + 1 == threads ? n_ : lines * (t + 1) / threads * kLine;
    for (std::int64_t i = begin; i < end && !stop_.stop_requested(); i += kPiece_doubles) {
      body(t, i, std::min(end, i + kPiece_doubles));
    }
  };
  if (threads == 1)
    part(0);
  else
    device.threads().run(part);
}

// One thread uses a single cache.
std::int64_t usable_cache_bytes(const TransferSeries& series, const DeviceInfo& info) {
  return series.threads == 1 ? smallest_last_level_cache_bytes(info) : last_level_cache_bytes(info);
}

CpuCase::CpuCase(Machine& machine, const TransferSeries& series, std::int64_t bytes,
                 std::stop_token stop, const StreamKernels& kernels)
    : from_(machine.at(series.from)),
      to_(machine.at(series.to)),
      series_(series),
      n_(bytes / static_cast<std::int64_t>(sizeof(double))),
      stop_(std::move(stop)),
      kernels_(kernels),
      stores_(choose_stores(series.op, bytes, usable_cache_bytes(series, to_.info()))),
      sums_(static_cast<std::size_t>(series.threads)),
      bound_(to_.threads()) {
  allocate(bytes);
  fill_sources();
  poison();
}

void CpuCase::allocate(std::int64_t bytes) {
  // DType has no double; the list of live tensors shows bytes.
  const auto info = [&](const char* what) {
    TensorInfo tensor;
    tensor.name = fmt::format("transfer {}", what);
    tensor.shape = {bytes};
    tensor.dtype = DType::U8;
    return tensor;
  };
  try {
    for (int i = 0; i < sources_of(series_.op); ++i) {
      sources_.emplace_back(from_, bytes, info("source"));
    }
    if (series_.op != TransferOp::Read) result_ = Buffer(to_, bytes, info("result"));
  } catch (const Error& error) {
    if (error.code() != Errc::OutOfMemory) throw;
    throw Error(Errc::OutOfMemory, trf("needs {} arrays of {}: {}", array_count(series_.op),
                                       format_bytes(bytes), error.what()));
  }
}

void CpuCase::fill_sources() {
  // Within one device, the threads that will use the memory touch it first; across two devices, the
  // owner's threads do.
  const int threads = &from_ == &to_ ? series_.threads : from_.threads().size();
  const auto bound = from_.threads().bind_caller();
  std::mutex mutex;
  for (std::size_t a = 0; a < sources_.size(); ++a) {
    for_parts(from_, threads, [&](int, std::int64_t begin, std::int64_t end) {
      std::uint64_t sum = 0;
      double* values = source(a);
      for (std::int64_t i = begin; i < end; ++i) {
        values[i] = random_value(i, static_cast<std::uint32_t>(a));
        sum += std::bit_cast<std::uint64_t>(values[i]);
      }
      const std::lock_guard lock(mutex);
      expected_sum_ += sum;
    });
  }
}

void CpuCase::poison() {
  for (Sum& sum : sums_) sum.value = ~expected_sum_;
  if (series_.op == TransferOp::Read) return;
  for_parts(to_, series_.threads, [&](int, std::int64_t begin, std::int64_t end) {
    std::fill(result() + begin, result() + end, kPoisoned);
  });
}

void CpuCase::operate() {
  switch (series_.op) {
    case TransferOp::Read:
      for (Sum& sum : sums_) sum.value = 0;
      for_parts(to_, series_.threads, [&](int t, std::int64_t begin, std::int64_t end) {
        sums_[static_cast<std::size_t>(t)].value += kernels_.read(source(0) + begin, end - begin);
      });
      break;
    case TransferOp::Write:
      value_ = value_ < 1000 ? value_ + 1 : 1;
      for_parts(to_, series_.threads, [&](int, std::int64_t begin, std::int64_t end) {
        kernels_.write(result() + begin, value_, end - begin, stores_);
      });
      break;
    case TransferOp::Copy:
      for_parts(to_, series_.threads, [&](int, std::int64_t begin, std::int64_t end) {
        kernels_.copy(result() + begin, source(0) + begin, end - begin, stores_);
      });
      break;
    case TransferOp::Triad:
      for_parts(to_, series_.threads, [&](int, std::int64_t begin, std::int64_t end) {
        kernels_.triad(result() + begin, source(0) + begin, source(1) + begin, kFactor, end - begin,
                       stores_);
      });
      break;
    default: break;  // operations of GPUs; plans never assign them to threads
  }
}

double CpuCase::expected(std::int64_t i) const {
  switch (series_.op) {
    case TransferOp::Write: return value_;
    case TransferOp::Copy: return random_value(i, 0);
    default: return random_value(i, 0) + kFactor * random_value(i, 1);
  }
}

std::string CpuCase::check() {
  if (series_.op == TransferOp::Read) {
    std::uint64_t sum = 0;
    for (const Sum& part : sums_) sum += part.value;
    if (sum == expected_sum_) return "";
    return trf("the sum over all values is {:016x}, not {:016x}", sum, expected_sum_);
  }
  std::int64_t first_wrong = n_;
  std::mutex mutex;
  for_parts(to_, to_.threads().size(), [&](int, std::int64_t begin, std::int64_t end) {
    const double* values = result();
    for (std::int64_t i = begin; i < end; ++i) {
      if (values[i] == expected(i)) continue;
      const std::lock_guard lock(mutex);
      first_wrong = std::min(first_wrong, i);
      return;
    }
  });
  if (first_wrong == n_) return "";
  return trf("element {} of {} is {}, not {}", first_wrong, n_, result()[first_wrong],
             expected(first_wrong));
}

Timing CpuCase::time(const RunContext& ctx, const SampleSettings& settings) {
  MeasureOptions options{.budget_s = settings.budget_s};
  if (settings.live) {
    options.budget_s = 2 * kLiveSample_s;
    options.min_time_s = kLiveSample_s;
  }
  if (settings.flusher != nullptr) options.flush = [&] { settings.flusher->flush(); };
  options.cancelled = [stop = ctx.stop_token()] { return stop.stop_requested(); };
  return measure([this] { operate(); }, options);
}

Conditions CpuCase::conditions() const {
  return current_conditions(to_.info().cores.front());
}

}  // namespace

// Streaming stores win once the arrays exceed the caches, as measured on AVX-512 and AVX2 machines.
// Write-only traffic keeps its lines in the cache for longer than mixed traffic does.
Stores choose_stores(TransferOp op, std::int64_t bytes, std::int64_t cache_bytes) {
  const std::int64_t footprint = array_count(op) * bytes;
  const std::int64_t limit = op == TransferOp::Write ? 2 * cache_bytes : cache_bytes;
  return footprint >= limit ? Stores::Streaming : Stores::Cached;
}

std::unique_ptr<TransferCase> make_cpu_case(Machine& machine, const TransferSeries& series,
                                            std::int64_t bytes, std::stop_token stop,
                                            const StreamKernels& kernels) {
  return std::make_unique<CpuCase>(machine, series, bytes, std::move(stop), kernels);
}

}  // namespace lab
