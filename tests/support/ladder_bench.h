#pragma once
// Benchmark of a GPU's rungs and libraries on products of many shapes. A failing rung is reported
// and the others are measured.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compute/core/dtype.h"
#include "compute/machine/machine.h"
#include "tests/support/product_shape.h"

namespace lab::test {

struct LadderBenchOptions {
  double seconds = 0.05;    // per rung and round
  int rounds = 3;           // interleaved
  double longest_s = 0.25;  // a rung whose product is predicted to take longer is skipped
  std::vector<ProductShape> shapes;
};

class LadderBench {
 public:
  // `print` receives one JSON object per rung, precision and shape: "bench", "skip" or "fail".
  LadderBench(DeviceContext& device, LadderBenchOptions options,
              std::function<void(const std::string& json)> print);

  // Runs all shapes of a precision. Returns false if a rung failed: its call ended with
  // Error(Cuda), or the norm of its C differs from the median of all rungs. The tests have precise
  // checks. Throws the other errors, Error(DeviceLost) among them.
  bool run(Precision precision);

 private:
  class Case;
  // The time of the last product that a rung was measured on.
  struct Measured {
    ProductShape shape;
    double seconds = 0;
  };

  DeviceContext& device_;
  const LadderBenchOptions options_;
  const std::function<void(const std::string& json)> print_;
  std::map<std::string, Measured> last_;  // by rung; of the running precision
};

}  // namespace lab::test
