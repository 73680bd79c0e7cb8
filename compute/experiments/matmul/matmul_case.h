#pragma once
// One square size on one device: verification, and the rungs timed in turns.
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include "compute/experiments/matmul/matmul_site.h"
#include "compute/measure/measure.h"
#include "compute/run/run_context.h"

namespace lab {

class MatmulCase {
 public:
  // `site` is borrowed. Shares of the peak are left out without one.
  MatmulCase(RunContext& ctx, Device device, MatmulSite& site, const CaseSettings& settings,
             std::optional<double> peak_gflops);
  MatmulCase(const MatmulCase&) = delete;
  MatmulCase& operator=(const MatmulCase&) = delete;

  // Checks each rung of the site against float64 and keeps it for timing; emits a Skipped for one
  // that the site refuses. Throws Error(Internal) naming rung and element when a result is wrong.
  void verify();

  // Times the rungs in turns, so that all see the same machine, libraries first, and emits a sample
  // for each as soon as the libraries' times are known too. `progress` gets 0..1 and the rung.
  using ProgressFunction = std::function<void(double done, const std::string& rung)>;
  void time_all(const ProgressFunction& progress);

  // One quick round: a fresh sample of each rung within about `seconds` in all.
  void time_round(double seconds);

  std::size_t rungs() const { return contenders_.size(); }

 private:
  struct Contender {
    std::string name;
    bool library = false;
    double max_error = 0;
    std::function<double(std::int64_t times)> calls;
    std::optional<Measurement> measurement;
    bool emitted = false;
  };

  void prove(std::size_t rung);
  void time_slice(Contender& contender, double seconds, const std::function<void()>& tick);
  void settle_after_library();
  void emit_ready();
  void emit_sample(const Contender& contender);
  std::optional<double> library_gflops() const;
  double gflops(const Contender& contender) const;
  double share_done() const;
  MeasureOptions measure_options(double budget_s) const;

  RunContext& ctx_;
  const Device device_;
  MatmulSite& site_;
  const CaseSettings settings_;
  const std::optional<double> peak_gflops_;
  std::deque<Contender> contenders_;  // libraries first; addresses stay
  bool library_ran_last_ = false;
};

}  // namespace lab
