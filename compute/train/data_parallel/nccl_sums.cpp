#include "compute/train/data_parallel/nccl_sums.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab {
namespace {

class NcclSums final : public GpuSums {
 public:
  NcclSums(const nccl::Library& library, std::span<const GpuArray> arrays);
  ~NcclSums() override;
  void queue(std::int64_t begin, std::int64_t end) override;
  void check() override;
  void abandon() noexcept override;

 private:
  void require(int code, const char* call) const;

  const nccl::Library nccl_;
  std::vector<nccl::Communicator> communicators_;  // empty once abandoned
};

NcclSums::NcclSums(const nccl::Library& library, std::span<const GpuArray> arrays)
    : GpuSums(arrays), nccl_(library) {
  std::vector<int> ordinals;
  for (const Member& member : members()) ordinals.push_back(member.gpu->facts().ordinal);
  std::vector<nccl::Communicator> made(ordinals.size());
  require(nccl_.comm_init_all(made.data(), static_cast<int>(made.size()), ordinals.data()),
          "ncclCommInitAll");
  communicators_ = std::move(made);
}

// ncclCommDestroy requires that all sums have completed, which those of a lost GPU never do.
NcclSums::~NcclSums() {
  const bool ended = wait();
  const bool lost = std::ranges::any_of(
      members(), [](const Member& member) { return !member.gpu->lost().empty(); });
  if (!ended || lost) abandon();
  for (const nccl::Communicator one : communicators_) nccl_.comm_destroy(one);
}

void NcclSums::require(int code, const char* call) const {
  if (code == nccl::kSuccess) return;
  throw Error(Errc::Cuda,
              trf("NCCL {}: {} failed: {}; run with NCCL_DEBUG=INFO for details, or with "
                  "--sum lab",
                  nccl_.version, call, nccl_.get_error_string(code)));
}

// One thread calls NCCL for all GPUs, which therefore have to be in one group.
void NcclSums::queue(std::int64_t begin, std::int64_t end) {
  if (communicators_.empty()) throw Error(Errc::Cancelled, tr("cancelled"));
  require(nccl_.group_start(), "ncclGroupStart");
  int failed = nccl::kSuccess;
  for (std::size_t i = 0; i < communicators_.size() && failed == nccl::kSuccess; ++i) {
    float* const values = members()[i].values + begin;
    failed = nccl_.all_reduce(values, values, static_cast<std::size_t>(end - begin), nccl::kFloat32,
                              nccl::kSum, communicators_[i], members()[i].stream->native());
  }
  const int ended = nccl_.group_end();
  require(failed, "ncclAllReduce");
  require(ended, "ncclGroupEnd");
}

void NcclSums::check() {
  for (const nccl::Communicator one : communicators_) {
    int code = nccl::kSuccess;
    require(nccl_.comm_get_async_error(one, &code), "ncclCommGetAsyncError");
    if (code != nccl::kInProgress) require(code, "ncclAllReduce");
  }
}

void NcclSums::abandon() noexcept {
  for (const nccl::Communicator one : std::exchange(communicators_, {})) nccl_.comm_abort(one);
}

}  // namespace

std::unique_ptr<GpuSums> make_nccl_sums(const nccl::Library& library,
                                        std::span<const GpuArray> arrays) {
  return std::make_unique<NcclSums>(library, arrays);
}

}  // namespace lab
