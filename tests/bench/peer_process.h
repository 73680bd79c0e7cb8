#pragma once
// A process that times contenders of bench_gemm_shapes with the protocol of gemm_peer.cpp.
#include <sys/types.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/bench/call_time.h"
#include "tests/support/product_shape.h"

namespace lab::bench {

class PeerProcess {
 public:
  // Starts `command` in a shell on all cores of the process, so create it before the calling thread
  // is bound to one, and waits until the command names its contenders. Throws Error(Unsupported)
  // with the command if it ends instead.
  explicit PeerProcess(std::string command);
  ~PeerProcess();  // closes the command's input and waits until it ends
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  const std::vector<std::string>& contenders() const { return contenders_; }

  // Returns a statistic of the seconds per call over a slice of about `slice_s`. Throws
  // Error(Unsupported) with the reason of a contender that cannot compute or time the shape.
  double seconds_per_call(const std::string& contender, const test::ProductShape& shape,
                          double slice_s, Statistic statistic);

 private:
  std::string read_line();

  const std::string command_;
  pid_t pid_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
  std::vector<std::string> contenders_;
};

}  // namespace lab::bench
