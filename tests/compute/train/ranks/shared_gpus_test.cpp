#include "compute/train/ranks/shared_gpus.h"

#include <gtest/gtest.h>

#include "tests/support/fake_gpu/fake_gpu.h"

namespace lab {
namespace {

// Processes whose part in all_gather() the test has prepared; this one is the last.
class PreparedRanks final : public RankGroup {
 public:
  explicit PreparedRanks(std::vector<std::string> hosts) : hosts_(std::move(hosts)) {}
  int rank() const override { return size() - 1; }
  int size() const override { return static_cast<int>(hosts_.size()); }
  const std::vector<std::string>& hosts() const override { return hosts_; }
  void broadcast(std::span<std::byte>, int, const RankWait&) override {}
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> bytes,
                                                 const RankWait&) override {
    sent.emplace_back(bytes.begin(), bytes.end());
    return sent;
  }
  std::unique_ptr<PendingSum> start_sum(std::span<float>) override { return nullptr; }
  void check() override {}
  void fail(Errc, const std::string&) noexcept override {}

  std::vector<std::vector<std::byte>> sent;

 private:
  const std::vector<std::string> hosts_;
};

// The GPUs with these numbers, named as a process that sees them as cuda:0, cuda:1, ... does.
std::vector<NamedGpu> visible(test::FakeBackend& backend, const std::vector<int>& gpus) {
  std::vector<NamedGpu> named;
  named.reserve(gpus.size());
  for (const int i : gpus) {
    named.push_back({gpu(static_cast<int>(named.size())), backend.gpu(i).facts().pci_bus_id});
  }
  return named;
}

std::string shared_by(const std::vector<std::string>& hosts,
                      const std::vector<std::vector<NamedGpu>>& gpus) {
  PreparedRanks ranks(hosts);
  std::string text;
  for (const std::vector<NamedGpu>& mine : gpus) text = shared_gpus(mine, ranks, {});
  return text;
}

TEST(SharedGpus, AreNamedWithTheWayOut) {
  test::FakeBackend backend(2, 1 << 20);
  const auto first = visible(backend, {0}), second = visible(backend, {1});
  EXPECT_EQ(shared_by({"a", "a"}, {first, first}),
            "0000:01:00.0 on a is one GPU for cuda:0 of rank 0, cuda:0 of rank 1: the ranks share "
            "its time and its memory; give each rank a GPU of its own with CUDA_VISIBLE_DEVICES or "
            "--devices, or train in one process with --devices cuda:0,cuda:1");
  EXPECT_EQ(shared_by({"a", "a"}, {first, second}), "") << "CUDA_VISIBLE_DEVICES: both are cuda:0";
  EXPECT_EQ(shared_by({"a", "b"}, {first, first}), "") << "of different hosts";
}

TEST(SharedGpus, AreFoundUnderDifferentNames) {
  test::FakeBackend backend(2, 1 << 20);
  const std::string text =
      shared_by({"a", "b", "a"}, {visible(backend, {0, 1}), {}, visible(backend, {1})});
  EXPECT_TRUE(
      text.starts_with("0000:02:00.0 on a is one GPU for cuda:1 of rank 0, cuda:0 of rank "
                       "2: "))
      << text;
}

TEST(SharedGpus, EmulatedOnesAreOfTheirProcess) {
  EXPECT_EQ(shared_by({"a", "a"}, {{{emulated_gpu(0), ""}}, {{emulated_gpu(0), ""}}}), "");
  EXPECT_EQ(shared_gpus({{gpu(0), "0000:01:00.0"}}, single_rank(), {}), "");
}

}  // namespace
}  // namespace lab
