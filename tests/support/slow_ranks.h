#pragma once
// A second process for tests of sums over processes.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compute/run/rank_group.h"

namespace lab::test {

// Cross-process sums that complete after several polls, as on a network.
class SlowRanks final : public RankGroup {
 public:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  const std::vector<std::string>& hosts() const override { return hosts_; }
  void broadcast(std::span<std::byte>, int, const RankWait&) override {}
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte>,
                                                 const RankWait&) override {
    return {};
  }
  std::unique_ptr<PendingSum> start_sum(std::span<float> values) override {
    begun.push_back(static_cast<std::int64_t>(values.size()));
    return std::make_unique<Doubling>(values);
  }
  void check() override {}
  void fail(Errc, const std::string&) noexcept override {}

  std::vector<std::int64_t> begun;

 private:
  // The other process contributes the same gradients.
  struct Doubling final : PendingSum {
    explicit Doubling(std::span<float> v) : values(v) {}
    bool test() override {
      if (++tests < 5) return false;
      for (float& v : values) v *= 2;
      return true;
    }
    std::span<float> values;
    int tests = 0;
  };
  const std::vector<std::string> hosts_ = {"a", "b"};
};

}  // namespace lab::test
