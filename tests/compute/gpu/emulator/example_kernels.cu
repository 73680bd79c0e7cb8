#include "tests/compute/gpu/emulator/example_kernels.cuh"

namespace lab::simt_examples {

__global__ void __launch_bounds__(1024) transpose_kernel(TransposeArgs args) {
  transpose_body<32>(args);
}
__global__ void __launch_bounds__(256) reduce_kernel(ReduceArgs args) {
  reduce_body<256>(args);
}
__global__ void scan_kernel(ScanArgs args) {
  scan_body(args);
}
__global__ void histogram_kernel(HistogramArgs args) {
  histogram_body(args);
}
__global__ void __launch_bounds__(32) tensor_tile_kernel(TensorTileArgs args) {
  tensor_tile_body(args);
}

}  // namespace lab::simt_examples
