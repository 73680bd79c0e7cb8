#pragma once
// Where the products of a case are computed: operands on one device, and the rungs that take them.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/dtype.h"
#include "compute/core/events/stats.h"
#include "compute/experiments/matmul/reference.h"
#include "compute/measure/measure.h"

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

struct SiteRung {
  std::string name;
  bool library = false;
};

class MatmulSite {
 public:
  MatmulSite() = default;
  virtual ~MatmulSite() = default;
  MatmulSite(const MatmulSite&) = delete;
  MatmulSite& operator=(const MatmulSite&) = delete;

  // In ladder order. Below they are named by their place here.
  virtual const std::vector<SiteRung>& rungs() const = 0;
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

}  // namespace lab
