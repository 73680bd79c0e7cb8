#include "compute/run/rank_group.h"

namespace lab {
namespace {

class SingleRank final : public RankGroup {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  const std::vector<std::string>& hosts() const override { return hosts_; }
  void broadcast(std::span<std::byte>, int, const RankWait&) override {}
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> bytes,
                                                 const RankWait&) override {
    return {{bytes.begin(), bytes.end()}};
  }
  std::unique_ptr<PendingSum> start_sum(std::span<float>) override {
    return std::make_unique<Final>();
  }
  void check() override {}
  void fail(Errc, const std::string&) noexcept override {}

 private:
  struct Final final : PendingSum {
    bool test() override { return true; }
  };
  const std::vector<std::string> hosts_ = {"localhost"};
};

}  // namespace

RankGroup& single_rank() {
  static SingleRank group;
  return group;
}

}  // namespace lab
