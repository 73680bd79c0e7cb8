#pragma once
// The CUDA ladder. A new rung needs its own file and two lines here: the include and the type.
#include "compute/gpu/cuda/matmul/rungs/r00_naive.cuh"
#include "compute/gpu/cuda/matmul/rungs/r01_coalesced.cuh"
#include "compute/gpu/cuda/matmul/rungs/r02_shared.cuh"
#include "compute/gpu/cuda/matmul/rungs/r03_column.cuh"
#include "compute/gpu/cuda/matmul/rungs/r04_square.cuh"
#include "compute/gpu/cuda/matmul/rungs/r05_vector.cuh"
#include "compute/gpu/cuda/matmul/rungs/r06_warp.cuh"
#include "compute/gpu/cuda/matmul/rungs/r07_async.cuh"
#include "compute/gpu/cuda/matmul/rungs/r08_tf32.cuh"
#include "compute/gpu/cuda/matmul/rungs/r09_bf16.cuh"
#include "compute/gpu/cuda/matmul/rungs/r10_wgmma.cuh"
#include "compute/gpu/cuda/matmul/rungs/r11_producer.cuh"
#include "compute/gpu/cuda/matmul/rungs/r12_persistent.cuh"
#include "compute/gpu/cuda/matmul/rungs/r13_cluster.cuh"
#include "compute/gpu/cuda/matmul/rungs/r14_store.cuh"
#include "compute/gpu/cuda/matmul/rungs/r15_wgmma_tf32.cuh"

namespace lab::cuda_matmul {

using Ladder = RungTypes<NaiveRung, CoalescedRung, SharedRung, ColumnRung, SquareRung, VectorRung,
                         WarpRung, AsyncRung, Tf32Rung, Bf16Rung, WgmmaRung, ProducerRung,
                         PersistentRung, ClusterRung, StoreRung, WgmmaTf32Rung>;

}  // namespace lab::cuda_matmul
