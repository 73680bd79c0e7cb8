#pragma once
// How the bytes of a transfer travel.
#include <string>

namespace lab {

enum class TransferMover {
  Threads,     // of a CPU device
  CopyEngine,  // of a GPU: cudaMemcpyAsync
  Kernel,      // a kernel of the GPU, with loads and stores of 16 bytes
};

// Between two GPUs: which of them works, and whether it reaches the other's memory directly (P2P)
// or the driver takes the bytes through the host.
enum class PeerWay { None, Write, Read, WriteThroughHost, ReadThroughHost };

const char* to_string(TransferMover mover);  // "threads", "copy_engine", "kernel"
const char* to_string(PeerWay way);          // "none", "write", "read", "write_through_host", ...

// In words: "2 threads", "copy engine", "kernel, peer write".
std::string moved_by(TransferMover mover, PeerWay way, int threads);

}  // namespace lab
