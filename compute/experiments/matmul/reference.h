#pragma once
// Float64 reference for C = A*B, on as many elements as the time allows.
#include <cstdint>
#include <functional>
#include <vector>

#include "compute/kernels/gemm/gemm.h"
#include "compute/kernels/gemm/gemm_bf16.h"

namespace lab {

struct MatmulCheck {
  bool ok = false;
  double max_error = 0;           // largest |C - reference| over check()'s bound; <= 1 when ok
  std::int64_t row = 0, col = 0;  // its position
  // Root mean square of C - reference over what FP32 sums of numbers with random signs explain; <=
  // 1 when ok. 0 where it is not known.
  double typical_error = 0;
};

// Rounding error beyond FP32 sums rounded to nearest.
struct MatmulRounding {
  double factor = 0;  // relative rounding error of an operand before multiplication
  double sums = 1;    // error of sums in units of gamma_K; 2 if they are truncated
};

class MatmulReference {
 public:
  // Computes the expected elements of a plain product: all of them if M*N*K is small, otherwise
  // corners, edges and a fixed pseudo-random selection, K terms each. Polls `cancelled`; once it
  // returns true, the reference is left incomplete.
  MatmulReference(const GemmArgs& args, const std::function<bool()>& cancelled,
                  const MatmulRounding& rounding = {});
  // Same for bf16 operands: the operands are exact, only sums round.
  MatmulReference(const Bf16GemmArgs& args, const std::function<bool()>& cancelled,
                  const MatmulRounding& rounding = {});

  // Fills C with NaN, so that check() detects elements that were never written.
  template <class Args>
  static void poison(const Args& args);

  // Compares C: every element must be finite, and every expected element within the bound
  // gamma_K*(|A||B|), gamma_K = K*u/(1-K*u), u = 2^-24 (Higham 2002, ch. 3), plus the error that
  // `rounding` adds for operands and sums. That bound grows with K faster than errors do, and from
  // some hundred terms on it would hide operands rounded to tf32. Where `rounding` allows no more
  // than FP32, the root mean square of the errors is therefore compared too: with terms of random
  // signs it is about 0.4*u*sqrt(K)*sqrt(sum of squared terms), and four times that is an error
  // (Higham and Mary 2019, SIAM J. Sci. Comput. 41). Errors of terms that mostly have one sign grow
  // faster and are compared with the bound only.
  template <class Args>
  MatmulCheck check(const Args& args) const;

  std::int64_t elements() const { return static_cast<std::int64_t>(expected_.size()); }

 private:
  struct Expected {
    std::int64_t row, col;
    double value;
    double bound;
    double deviation;  // of the value, if the signs of its terms were random
  };
  template <class Args>
  void expect_all(const Args& args, const std::function<bool()>& cancelled);
  template <class Args>
  void expect(const Args& args, std::int64_t row, std::int64_t col);
  template <class Args>
  double typical_error(const Args& args) const;
  const MatmulRounding rounding_;
  std::vector<Expected> expected_;
};

}  // namespace lab
