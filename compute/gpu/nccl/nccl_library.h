#pragma once
// NCCL, NVIDIA's library of sums over GPUs, loaded at run time because the lab must start without
// it. The part of its binary interface that the lab uses is declared here, because nccl.h may not
// be installed. Values follow NCCL 2, which keeps them stable.
#include <cstddef>
#include <string>

#include "compute/core/maybe.h"

namespace lab::nccl {

struct CommunicatorTag;
using Communicator = CommunicatorTag*;  // ncclComm_t

// ncclResult_t
enum Code : int { kSuccess = 0, kInvalidArgument = 4, kInvalidUsage = 5, kInProgress = 7 };
inline constexpr int kFloat32 = 7;  // ncclDataType_t
inline constexpr int kSum = 0;      // ncclRedOp_t

// The functions of a loaded library, with the names of NCCL. Streams are of type cudaStream_t.
struct Library {
  std::string version;  // "2.28.9"
  int (*comm_init_all)(Communicator* communicators, int count, const int* devices) = nullptr;
  int (*comm_destroy)(Communicator communicator) = nullptr;
  int (*comm_abort)(Communicator communicator) = nullptr;
  int (*comm_get_async_error)(Communicator communicator, int* code) = nullptr;
  int (*all_reduce)(const void* from, void* to, std::size_t count, int data_type, int operation,
                    Communicator communicator, void* stream) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  const char* (*get_error_string)(int code) = nullptr;
};

// Missing with the loader's reason, the function that the library lacks, or a version that the lab
// does not know. `name`: name or path.
Maybe<Library> open_library(const std::string& name = "libnccl.so.2");

}  // namespace lab::nccl
