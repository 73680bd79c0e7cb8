#include "tests/support/fake_layer_libraries/fake_calls.h"

namespace lab::test {
namespace {

struct FakeHandleCalls : FakeCalls {
  // ---- Handles

  static std::size_t version() { return 91900; }
  static const char* text(CudnnStatus status) {
    return status == CudnnStatus::Success ? "CUDNN_STATUS_SUCCESS" : "CUDNN_STATUS_SET_BY_THE_TEST";
  }
  static const char* blas_text(CublasStatus /*status*/) { return "set by the test"; }
  static CublasStatus property(CublasProperty which, int* value) {
    *value = which == CublasProperty::Major ? 13 : 1;
    return CublasStatus::Success;
  }

  template <class Status, class Handle>
  static Status make_handle(const char* name, Handle** handle) {
    return call<Status>(name, [&](FakeLibraries& fake) {
      require(current_gpu != nullptr, "no GPU is current");
      require_unrecorded(fake);
      const auto made = std::make_shared<Handle>();
      made->gpu = current_gpu;
      handles(fake).emplace(static_cast<FakeHandle*>(made.get()), made);
      *handle = made.get();
    });
  }
  template <class Status, class Handle>
  static Status end_handle(const char* name, Handle* handle) {
    return call<Status>(name, [&](FakeLibraries& fake) {
      FakeCalls::handle(fake, handle);
      handles(fake).erase(static_cast<FakeHandle*>(handle));
    });
  }
  template <class Status, class Handle>
  static Status choose_stream(const char* name, Handle* handle, void* stream) {
    return call<Status>(name, [&](FakeLibraries& fake) {
      FakeCalls::handle(fake, handle);
      handle->stream = static_cast<GpuStream*>(stream);
      handle->queue.reset();
      if (stream != nullptr) handle->queue = emulated::raw(*handle->stream).queue();
      handle->workspace = nullptr;
      handle->workspace_bytes = 0;
    });
  }

  static CudnnStatus create(CudnnContext** h) { return make_handle<CudnnStatus>("cudnnCreate", h); }
  static CudnnStatus destroy(CudnnContext* h) { return end_handle<CudnnStatus>("cudnnDestroy", h); }
  static CudnnStatus set_stream(CudnnContext* h, void* stream) {
    return choose_stream<CudnnStatus>("cudnnSetStream", h, stream);
  }
  static CublasStatus create_blas(CublasContext** h) {
    return make_handle<CublasStatus>("cublasCreate", h);
  }
  static CublasStatus destroy_blas(CublasContext* h) {
    return end_handle<CublasStatus>("cublasDestroy", h);
  }
  static CublasStatus set_blas_stream(CublasContext* h, void* stream) {
    return choose_stream<CublasStatus>("cublasSetStream", h, stream);
  }

  // ---- cuBLAS

  static CublasStatus set_workspace(CublasContext* h, void* workspace, std::size_t bytes) {
    return call<CublasStatus>("cublasSetWorkspace", [&](FakeLibraries& fake) {
      handle(fake, h);
      require(reinterpret_cast<std::uintptr_t>(workspace) % kFakeAlignment_bytes == 0,
              "the workspace is misaligned");
      h->workspace = workspace;
      h->workspace_bytes = bytes;
    });
  }
  static CublasStatus gemm(CublasContext* h, CublasOperation a_op, CublasOperation b_op, int m,
                           int n, int k, const void* alpha, const void* a, CublasData a_type,
                           int lda, const void* b, CublasData b_type, int ldb, const void* beta,
                           void* c, CublasData c_type, int ldc, CublasCompute compute,
                           CublasAlgorithm /*algorithm*/) {
    constexpr const char* kName = "cublasGemmEx";
    return call<CublasStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      FakeGemm g{m,
                 n,
                 k,
                 lda,
                 ldb,
                 ldc,
                 a_op == CublasOperation::Transpose,
                 b_op == CublasOperation::Transpose,
                 compute == CublasCompute::FastTf32,
                 work.blend(alpha, beta)};
      require(std::min({m, n, k}) > 0, "an empty product");
      require(a_type == CublasData::Float && b_type == a_type && c_type == a_type, "not FP32");
      require(lda >= (g.a_transposed ? k : m) && ldb >= (g.b_transposed ? n : k) && ldc >= m,
              "a leading dimension is too small");
      const auto bytes = [](std::int64_t columns, std::int64_t ld) { return 4 * columns * ld; };
      work.use(a, bytes(g.a_transposed ? m : k, lda));
      work.use(b, bytes(g.b_transposed ? k : n, ldb));
      work.write(c, bytes(n, ldc));
      require(h->workspace != nullptr, "a workspace of the library's own");
      work.workspace(h->workspace, h->workspace_bytes,
                     static_cast<std::int64_t>(h->workspace_bytes));
      work.queue([=] { multiply(g, floats(a), floats(b), floats(c)); });
    });
  }
};

}  // namespace

void add_handles(CudnnFunctions& cudnn, CublasFunctions& cublas) {
  cudnn.get_version = FakeHandleCalls::version;
  cudnn.get_error_string = FakeHandleCalls::text;
  cudnn.create = FakeHandleCalls::create;
  cudnn.destroy = FakeHandleCalls::destroy;
  cudnn.set_stream = FakeHandleCalls::set_stream;
  cublas.get_property = FakeHandleCalls::property;
  cublas.get_status_string = FakeHandleCalls::blas_text;
  cublas.create = FakeHandleCalls::create_blas;
  cublas.destroy = FakeHandleCalls::destroy_blas;
  cublas.set_stream = FakeHandleCalls::set_blas_stream;
  cublas.set_workspace = FakeHandleCalls::set_workspace;
  cublas.gemm = FakeHandleCalls::gemm;
}

}  // namespace lab::test
