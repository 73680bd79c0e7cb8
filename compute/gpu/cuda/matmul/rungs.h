#pragma once
// The CUDA ladder. A new rung needs its own file and two lines here: the include and the type.
#include "compute/gpu/cuda/matmul/r00_naive.cuh"
#include "compute/gpu/cuda/matmul/r01_coalesced.cuh"
#include "compute/gpu/cuda/matmul/r02_shared.cuh"
#include "compute/gpu/cuda/matmul/r03_column.cuh"
#include "compute/gpu/cuda/matmul/r04_square.cuh"
#include "compute/gpu/cuda/matmul/r05_vector.cuh"
#include "compute/gpu/cuda/matmul/r06_warp.cuh"
#include "compute/gpu/cuda/matmul/r07_async.cuh"
#include "compute/gpu/cuda/matmul/r08_tf32.cuh"
#include "compute/gpu/cuda/matmul/r09_bf16.cuh"
#include "compute/gpu/cuda/matmul/r10_wgmma.cuh"
#include "compute/gpu/cuda/matmul/r11_producer.cuh"
#include "compute/gpu/cuda/matmul/r12_persistent.cuh"
#include "compute/gpu/cuda/matmul/r13_cluster.cuh"

namespace lab::cuda_matmul {

using Ladder =
    RungTypes<NaiveRung, CoalescedRung, SharedRung, ColumnRung, SquareRung, VectorRung, WarpRung,
              AsyncRung, Tf32Rung, Bf16Rung, WgmmaRung, ProducerRung, PersistentRung, ClusterRung>;

}  // namespace lab::cuda_matmul
