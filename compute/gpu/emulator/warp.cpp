#include "compute/gpu/emulator/warp.h"

#include "compute/gpu/emulator/block.h"

namespace lab::simt {
namespace {

Index3 index_of(const Extent& extent) {
  return {extent.x, extent.y, extent.z};
}

void join_clocks(WarpGroup& group) {
  std::array<ThreadTime*, kWarpLanes> times{};
  std::size_t count = 0;
  group.each([&](int lane) { times[count++] = &group.thread(lane).time; });
  sync_in_warp(std::span(times).first(count));
}

void exchange_bits(WarpGroup& group) {
  group.each([&](int lane) {
    WarpRequest& request = group.request(lane);
    const int source = static_cast<int>(request.in[1]);
    if (!group.is_active(source)) {
      throw Fault(FaultKind::InactiveLane, std::string(request.name) + ": lane " +
                                               std::to_string(lane) + " reads lane " +
                                               std::to_string(source) +
                                               ", which does not "
                                               "participate");
    }
    request.out[0] = group.request(source).in[0];
  });
}

void collect_ballot(WarpGroup& group) {
  std::uint32_t votes = 0;
  group.each([&](int lane) { votes |= group.request(lane).in[0] << lane; });
  group.each([&](int lane) {
    group.request(lane).out[0] = votes;
    group.request(lane).out[1] = group.active();
  });
}

const WarpRequest& vote(bool p, const char* name, std::uint32_t mask, const Where& where) {
  WarpRequest request{.operation = collect_ballot, .name = name, .mask = mask, .where = where};
  request.in[0] = p ? 1 : 0;
  return current_block().meet(request);
}

// On the device, lane() and warp() count along x, which matches the warp only if rows are whole
// warps.
const SimtThread& thread_in_rows_of_warps() {
  Block& block = current_block();
  const Extent& extent = block.options().block;
  if (extent.x % kWarpLanes != 0 && (extent.y > 1 || extent.z > 1)) {
    throw Fault(FaultKind::Launch,
                "lane() and warp() need a one-dimensional block or a block whose x is a multiple "
                "of 32");
  }
  return block.self();
}

}  // namespace

Index3 thread_idx() {
  return current_block().self().index;
}
Index3 block_idx() {
  return current_block().index();
}
Index3 block_dim() {
  return index_of(current_block().options().block);
}
Index3 grid_dim() {
  return index_of(current_block().options().grid);
}
int lane() {
  return thread_in_rows_of_warps().index.x % kWarpLanes;
}
int warp() {
  return thread_in_rows_of_warps().index.x / kWarpLanes;
}
int lane_of_warp() {
  return current_block().self().time.lane();
}

void sync_threads(const Where& where) {
  current_block().sync_threads(where);
}

void sync_warp(std::uint32_t mask, const Where& where) {
  current_block().meet(
      {.operation = join_clocks, .name = "sync_warp", .mask = mask, .where = where});
}

bool vote_all(bool p, std::uint32_t mask, const Where& where) {
  const WarpRequest& answer = vote(p, "vote_all", mask, where);
  return answer.out[0] == answer.out[1];
}

bool vote_any(bool p, std::uint32_t mask, const Where& where) {
  return vote(p, "vote_any", mask, where).out[0] != 0;
}

std::uint32_t ballot(bool p, std::uint32_t mask, const Where& where) {
  return vote(p, "ballot", mask, where).out[0];
}

std::uint32_t exchange(std::uint32_t bits, int source, const char* name, std::uint32_t mask,
                       const Where& where) {
  WarpRequest request{.operation = exchange_bits, .name = name, .mask = mask, .where = where};
  request.in[0] = bits;
  request.in[1] = static_cast<std::uint32_t>(source);
  return current_block().meet(request).out[0];
}

}  // namespace lab::simt
