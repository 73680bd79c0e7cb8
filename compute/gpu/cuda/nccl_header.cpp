// Compares the lab's declarations of NCCL with nccl.h where it is installed. Nothing is compiled
// into the program.
#include "compute/gpu/nccl/nccl_library.h"

#if __has_include(<nccl.h>)
#include <nccl.h>

#include <type_traits>

namespace lab::nccl {
namespace {

template <typename Enumeration>
constexpr bool has_value(Enumeration theirs, int ours) {
  return static_cast<int>(theirs) == ours;
}
static_assert(has_value(ncclSuccess, kSuccess) &&
              has_value(ncclInvalidArgument, kInvalidArgument) &&
              has_value(ncclInvalidUsage, kInvalidUsage) && has_value(ncclInProgress, kInProgress));
static_assert(has_value(ncclFloat32, kFloat32) && has_value(ncclSum, kSum));
static_assert(NCCL_MAJOR == 2);

// Enumerations and handles are declared as int and as pointers.
template <typename T>
struct Passed {
  using Type = T;
};
template <typename T>
requires std::is_enum_v<T>
struct Passed<T> {
  using Type = int;
};
template <>
struct Passed<ncclComm_t> {
  using Type = Communicator;
};
template <>
struct Passed<ncclComm_t*> {
  using Type = Communicator*;
};
template <>
struct Passed<ncclResult_t*> {
  using Type = int*;
};
template <>
struct Passed<cudaStream_t> {
  using Type = void*;
};

template <typename Ours, typename Theirs>
struct Same;
template <typename Ours, typename Result, typename... Args>
struct Same<Ours, Result(Args...)>
    : std::is_same<Ours, typename Passed<Result>::Type (*)(typename Passed<Args>::Type...)> {};

static_assert(sizeof(ncclResult_t) == sizeof(int) && sizeof(ncclDataType_t) == sizeof(int));
static_assert(Same<decltype(Library::comm_init_all), decltype(ncclCommInitAll)>::value);
static_assert(Same<decltype(Library::comm_destroy), decltype(ncclCommDestroy)>::value);
static_assert(Same<decltype(Library::comm_abort), decltype(ncclCommAbort)>::value);
static_assert(
    Same<decltype(Library::comm_get_async_error), decltype(ncclCommGetAsyncError)>::value);
static_assert(Same<decltype(Library::all_reduce), decltype(ncclAllReduce)>::value);
static_assert(Same<decltype(Library::group_start), decltype(ncclGroupStart)>::value);
static_assert(Same<decltype(Library::group_end), decltype(ncclGroupEnd)>::value);
static_assert(Same<decltype(Library::get_error_string), decltype(ncclGetErrorString)>::value);

}  // namespace
}  // namespace lab::nccl
#endif
