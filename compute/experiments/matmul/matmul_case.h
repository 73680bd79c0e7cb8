#pragma once
// One square size on one device: verifies the rungs, then times them in interleaved slices.
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/events/event.h"
#include "compute/experiments/matmul/reference.h"
#include "compute/measure/measure.h"
#include "compute/run/run_context.h"

namespace lab {

struct CaseSettings {
  std::int64_t n = 0;        // matrices are N x N
  double budget_s = 0.5;     // per rung
  double longest_run_s = 2;  // a rung whose single run takes longer is skipped
  std::uint64_t seed = 0;
  Precision precision = Precision::F32;
  bool cold = false;  // caches are flushed before each repetition
};

// Reason for skipping a rung whose single run would take `seconds`, extrapolated from a run of its
// first rows. Times at smaller sizes do not predict it: the rows of some sizes map to the same
// cache sets.
std::string would_take(double seconds, const CaseSettings& settings);

// Operands on one device and the rungs that multiply them. Rungs are indexed as in the list that
// the site was made for.
class MatmulSite {
 public:
  MatmulSite() = default;
  virtual ~MatmulSite() = default;
  MatmulSite(const MatmulSite&) = delete;
  MatmulSite& operator=(const MatmulSite&) = delete;

  // Reason for skipping the rung, or nullopt. Must be called before verify() and time().
  virtual std::optional<std::string> refusal(std::size_t rung) = 0;
  // Invalidates C, multiplies, and compares C with float64. The result is undefined after a cancel.
  virtual MatmulCheck verify(std::size_t rung) = 0;
  // Returns the total seconds of `times` products.
  virtual double time(std::size_t rung, std::int64_t times) = 0;
  // Called after a slice of a library rung: waits until the library's threads are idle.
  virtual void rest() = 0;
  // Measurement options of the site; the case sets budget and cancellation.
  virtual MeasureOptions options() = 0;
  virtual Conditions conditions() const = 0;
};

class MatmulCase {
 public:
  // `site` and `rungs`, the list it was made for, are borrowed. Without a peak, samples have no
  // share of peak.
  MatmulCase(RunContext& ctx, MatmulSite& site, const std::vector<RungInfo>& rungs,
             const CaseSettings& settings, std::optional<double> peak_gflops);
  MatmulCase(const MatmulCase&) = delete;
  MatmulCase& operator=(const MatmulCase&) = delete;

  // Verifies each rung of the site against float64 and keeps it for timing; emits a Skipped for
  // each rung that the site refuses, and a RungFailed for each whose result is wrong.
  //
  // Each function below leaves out a rung that ends with Error(Cuda), with a RungFailed.
  void verify();

  // Times the rungs in interleaved slices, libraries first, so that clock drift affects all
  // equally. Emits each sample as soon as its time and those of all libraries are known.
  // `progress` receives the completed share, 0 to 1, and the rung's name.
  using ProgressFunction = std::function<void(double done, const std::string& rung)>;
  void time_all(const ProgressFunction& progress);

  // One short round of a live run: a new sample per rung within about `seconds` in total.
  void time_round(double seconds);

  std::size_t verified_rungs() const { return verified_.size(); }
  // Rungs with a wrong result or an error.
  const std::vector<const RungInfo*>& failed_rungs() const { return failed_; }

 private:
  // A rung whose product was correct.
  struct Verified {
    Verified(const RungInfo& shown, double error, std::function<double(std::int64_t times)> timed)
        : rung(shown), max_error(error), calls(std::move(timed)) {}

    const RungInfo& rung;
    double max_error;
    std::function<double(std::int64_t times)> calls;
    std::optional<Measurement> measurement = {};
    bool emitted = false;
  };

  void verify(std::size_t rung);
  // In a catch block: rethrows all but errors of the device after which it is usable.
  void fail(const RungInfo& rung, const Error& error);
  void fail(const RungInfo& rung, std::string reason, std::optional<double> max_error);
  void each_verified(const std::function<void(Verified&)>& time);
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
  std::list<Verified> verified_;  // libraries first; a rung that fails leaves
  std::vector<const RungInfo*> failed_;
  bool library_ran_last_ = false;
};

}  // namespace lab
