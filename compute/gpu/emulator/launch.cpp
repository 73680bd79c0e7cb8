#include "compute/gpu/emulator/launch.h"

#include "compute/gpu/emulator/block.h"

namespace lab::simt {
namespace {

constexpr long long kMaxThreads = 1024;

void check(const LaunchOptions& options) {
  const auto wrong = [](const Extent& e) { return e.x < 1 || e.y < 1 || e.z < 1; };
  const Extent& grid = options.grid;
  const Extent& block = options.block;
  if (wrong(grid) || wrong(block))
    throw Fault(FaultKind::Launch, "launch: grid and block must be at least 1 in each direction");
  if (block.count() > kMaxThreads || block.z > 64) {
    throw Fault(FaultKind::Launch, "launch: a block of " + std::to_string(block.x) + "x" +
                                       std::to_string(block.y) + "x" + std::to_string(block.z) +
                                       " threads; at most 1024, and 64 along z");
  }
  if (grid.y > 65535 || grid.z > 65535)
    throw Fault(FaultKind::Launch, "launch: a grid has at most 65535 blocks along y and z");
}

}  // namespace

void launch(const LaunchOptions& options, const std::function<void()>& body) {
  check(options);
  GlobalMemory global(options.arrays, options.space, options.one_writer);
  SharedMemory shared(options.dynamic_shared_bytes, options.check_races);
  thread_local FiberPool fibers;
  for (long long i = 0; i < options.grid.count(); ++i) {
    if (options.interrupted && options.interrupted()) return;
    shared.begin_block();
    Block block(options, options.grid.at(i), shared, global, fibers);
    block.run(body);
  }
}

}  // namespace lab::simt
