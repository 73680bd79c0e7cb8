#pragma once
// One square size on one device: verification, and the rungs timed in turns.
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/events/event.h"
#include "compute/experiments/matmul/reference.h"
#include "compute/measure/measure.h"
#include "compute/run/run_context.h"

namespace lab {

struct CaseSettings {
  std::int64_t n = 0;        // matrices are N x N
  double budget_s = 0.5;     // for each rung
  double longest_run_s = 2;  // a rung whose single run takes longer is left out
  std::uint64_t seed = 0;
  Precision precision = Precision::F32;
  bool cold = false;  // caches are emptied before each repetition
};

// Why a rung of which one run would take so long is left out.
std::string would_take(double seconds, const CaseSettings& settings);

// Where the products of a case are computed: operands on one device, and the rungs that take them,
// which are numbered as in the list that the site was made for.
class MatmulSite {
 public:
  MatmulSite() = default;
  virtual ~MatmulSite() = default;
  MatmulSite(const MatmulSite&) = delete;
  MatmulSite& operator=(const MatmulSite&) = delete;

  // Why the rung is left out here, or nothing. To be asked before the rest.
  virtual std::optional<std::string> refusal(std::size_t rung) = 0;
  // Makes C invalid, multiplies, and compares with float64. After a cancel its answer means
  // nothing.
  virtual MatmulCheck prove(std::size_t rung) = 0;
  // Seconds that `times` products together take.
  virtual double time(std::size_t rung, std::int64_t times) = 0;
  // Called after a library's turn: what it leaves running comes to rest.
  virtual void rest() = 0;
  // How repetitions are made here; budget and cancel are the case's to set.
  virtual MeasureOptions options() = 0;
  virtual Conditions conditions() const = 0;
};

class MatmulCase {
 public:
  // `site` and `rungs`, for which it was made, are borrowed. Shares of the peak are left out
  // without one.
  MatmulCase(RunContext& ctx, MatmulSite& site, const std::vector<RungInfo>& rungs,
             const CaseSettings& settings, std::optional<double> peak_gflops);
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

  std::size_t verified_rungs() const { return verified_.size(); }

 private:
  // A rung whose product was right.
  struct Verified {
    const RungInfo& rung;
    double max_error;
    std::function<double(std::int64_t times)> calls;
    std::optional<Measurement> measurement = {};
    bool emitted = false;
  };

  void prove(std::size_t rung);
  void time_slice(Verified& one, double seconds, const std::function<void()>& tick);
  void settle_after_library();
  void emit_ready();
  void emit_sample(const Verified& one);
  std::optional<double> library_gflops() const;
  double gflops(const Verified& one) const;
  double share_done() const;
  MeasureOptions measure_options(double budget_s) const;

  RunContext& ctx_;
  MatmulSite& site_;
  const std::vector<RungInfo>& rungs_;
  const CaseSettings settings_;
  const std::optional<double> peak_gflops_;
  std::deque<Verified> verified_;  // libraries first; addresses stay
  bool library_ran_last_ = false;
};

}  // namespace lab
