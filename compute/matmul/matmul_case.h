#pragma once
// One square size on one device: inputs, verification, and the rungs timed in turns.
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>

#include "compute/matmul/reference.h"
#include "compute/matmul/rung.h"
#include "compute/measure/measure.h"
#include "compute/run/run_context.h"
#include "compute/tensor/tensor.h"

namespace lab {

struct CaseSettings {
  Device device;
  std::int64_t n = 0;
  double budget_s = 0.5;     // for each rung
  double longest_run_s = 2;  // a rung whose single run takes longer is skipped
  CacheFlusher* flusher = nullptr;
  std::optional<double> peak_gflops;
  std::uint64_t seed = 0;
  DType dtype = DType::F32;  // of A and B: F32 or BF16; C is FP32
};

// Bytes of A and B in `dtype` and C in FP32.
double matmul_bytes(std::int64_t n, DType dtype = DType::F32);

class MatmulCase {
 public:
  // Allocates A, B and C on the device and fills A and B with uniform numbers in [-1, 1).
  MatmulCase(RunContext& ctx, DeviceContext& device, const CaseSettings& settings);
  MatmulCase(const MatmulCase&) = delete;
  MatmulCase& operator=(const MatmulCase&) = delete;

  // Checks each rung against float64 and keeps it for timing; emits a Skipped for one that would
  // take too long or whose library does not support this processor. Every rung must have a function
  // for the case's dtype. Throws Error(Internal) naming rung and element when a result is wrong.
  void verify(std::span<const Rung* const> rungs);

  // Times the rungs in turns, so that all see the same machine, libraries first, and emits a sample
  // for each as soon as the libraries' times are known too. `progress` gets 0..1 and the rung.
  using ProgressFunction = std::function<void(double done, const char* rung)>;
  void time_all(const ProgressFunction& progress);

  // One quick round: a fresh sample of each rung within about `seconds` in all.
  void time_round(double seconds);

  std::size_t rungs() const { return contenders_.size(); }

 private:
  struct Contender {
    const Rung* rung = nullptr;
    double max_error = 0;
    std::function<void()> body;
    std::optional<Measurement> measurement;
    bool emitted = false;
  };

  void take_matrices();
  // The first `rows` rows.
  void run(const Rung& rung, std::int64_t rows);
  MatmulReference make_reference() const;
  bool fast_enough(const Rung& rung);
  bool supported(const Rung& rung);
  double time_rows(const Rung& rung, std::int64_t rows);
  void time_slice(Contender& contender, double seconds, const std::function<void()>& tick);
  void settle_after_library();
  void emit_ready();
  void emit_sample(const Contender& contender);
  std::optional<double> library_gflops() const;
  double gflops(const Contender& contender) const;
  double share_done() const;
  MeasureOptions measure_options(double budget_s) const;

  RunContext& ctx_;
  DeviceContext& device_;
  const CaseSettings settings_;
  const std::stop_token stop_;
  Tensor a_, b_, c_;
  GemmArgs args_;  // without factors when they are bf16
  Bf16GemmArgs bf16_args_;
  std::deque<Contender> contenders_;  // libraries first; addresses stay
  bool library_ran_last_ = false;
};

}  // namespace lab
