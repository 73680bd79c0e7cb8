#pragma once
// What C = A*B must be, in float64, for as many elements as there is time for.
#include <cstdint>
#include <functional>
#include <vector>

#include "compute/kernels/gemm/gemm.h"
#include "compute/kernels/gemm/gemm_bf16.h"

namespace lab {

struct MatmulCheck {
  bool ok = false;
  double max_error = 0;  // largest |C - reference| as a share of check()'s bound; at most 1 when ok
  std::int64_t row = 0, col = 0;  // where that is
};

// What arithmetic loses beyond sums rounded to nearest in FP32.
struct MatmulRounding {
  double factor = 0;  // relative error of a factor when it is multiplied
  double sums = 1;    // the error of sums in units of gamma_K: 2 where they are truncated
};

class MatmulReference {
 public:
  // Computes the expected elements of a plain product: all of them while M*N*K is small, else
  // corners, edges and a fixed pseudo-random choice, K terms each. `cancelled` is asked now and
  // then; when it says so the reference is left incomplete.
  MatmulReference(const GemmArgs& args, const std::function<bool()>& cancelled,
                  const MatmulRounding& rounding = {});
  // The same of bf16 factors: they are what they are, only sums round.
  MatmulReference(const Bf16GemmArgs& args, const std::function<bool()>& cancelled,
                  const MatmulRounding& rounding = {});

  // Makes a wrong result visible: fills C with NaN, so that an element never written is found.
  template <class Args>
  static void poison(const Args& args);

  // Compares C: every element must be finite, every expected element within the bound
  // gamma_K*(|A||B|), gamma_K = K*u/(1-K*u), u = 2^-24 (Higham 2002, ch. 3), and what the rounding
  // of factors and sums adds.
  template <class Args>
  MatmulCheck check(const Args& args) const;

  std::int64_t elements() const { return static_cast<std::int64_t>(expected_.size()); }

 private:
  struct Expected {
    std::int64_t row, col;
    double value;
    double bound;
  };
  template <class Args>
  void expect_all(const Args& args, const std::function<bool()>& cancelled);
  template <class Args>
  void expect(const Args& args, std::int64_t row, std::int64_t col);
  const MatmulRounding rounding_;
  std::vector<Expected> expected_;
};

}  // namespace lab
