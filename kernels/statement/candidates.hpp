// SPDX-License-Identifier: Apache-2.0
/// @file candidates.hpp
/// The list of candidates that run statements: a new one is a file of its own and two lines here, its
/// `#include` and its name.
#pragma once

#include <type_traits>

#include "../../core/space.hpp"
#include "../../core/statement.hpp"
#include "../batches/candidate.hpp"
#include "../epilogue/sums_first.hpp"
#include "../mttkrp/host/candidate.hpp"
#include "../n_of_m/host/candidate.hpp"
#include "../results/appended.hpp"
#include "../results/dense.hpp"
#include "../results/gathered.hpp"
#include "../results/hoisted.hpp"
#include "../results/listed.hpp"
#include "../results/located.hpp"
#include "../results/merged.hpp"
#include "../results/part.hpp"
#include "../sddmm/host/candidate.hpp"
#include "../spgemm/host/candidate.hpp"
#include "../spmm/host/candidate.hpp"
#include "../spmv/host/candidate.hpp"
#include "../spmv/host/diagonals_candidate.hpp"
#include "../spmv/host/shared_columns_candidate.hpp"
#include "../spmv/host/slices_candidate.hpp"

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
#include "../add/cuda/candidate.hpp"
#include "../gemm/cuda/candidate.hpp"
#include "../mttkrp/cuda/candidate.hpp"
#include "../n_of_m/cuda/blocks_candidate.hpp"
#include "../n_of_m/cuda/candidate.hpp"
#include "../n_of_m/cuda/transposed_candidate.hpp"
#include "../results/cuda/merged.hpp"
#include "../sddmm/cuda/candidate.hpp"
#include "../sddmm/cuda/nonzeros_candidate.hpp"
#include "../sddmm/cuda/tiles_candidate.hpp"
#include "../sddmm/cuda/windows_candidate.hpp"
#include "../spgemm/cuda/candidate.hpp"
#include "../spmm/cuda/candidate.hpp"
#include "../spmm/cuda/columns_candidate.hpp"
#include "../spmm/cuda/cublas_candidate.hpp"
#include "../spmm/cuda/padded_rows_candidate.hpp"
#include "../spmm/cuda/shared_rows_candidate.hpp"
#include "../spmm/cuda/split_tiles_candidate.hpp"
#include "../spmm/cuda/tiles_candidate.hpp"
#include "../spmm/cuda/windows_candidate.hpp"
#include "../spmv/cuda/candidate.hpp"
#include "../two_four/cuda/candidate.hpp"
#ifdef SPOROS_HAVE_CUSPARSELT
#include "../two_four/cuda/cusparselt_candidate.hpp"
#endif
#include "../two_four/cuda/warps_candidate.hpp"
#endif

namespace sporos {

/// The loop nest, by the kind of its result. Each also has what `explain` says of its loops in place of the
/// result's kind:
///
///     K::role_at<S>(depth)   what the result does in the loop at `depth`, which is over one of its variables
///     K::parallel_text<S>()  how threads share the outermost loop
using NestCandidates = TypeList<
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
    gpu::MergedNest,
#endif
    LocatedNest, AppendedNest, GatheredNest, HoistedNest, DenseNest, MergedNest, ListedNest>;

/// The specialised kernels of the host.
using HostKernels =
    TypeList<SpmvByRows, SpmvBySlices, SpmvByDiagonals, SpmvBySharedColumns, SpmmByRows, NmByUnits,
             SddmmByRows, SpgemmByRows, MttkrpByFibers<true>, MttkrpByFibers<false>>;

/// The specialised kernels of GPUs.
using GpuKernels = TypeList<
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
    gpu::SpmvByTiles, gpu::SpmmByGroups, gpu::SpmmOnTensorCores, gpu::SpmmBySplitTiles, gpu::SpmmByWindows,
    gpu::SpmmByPaddedRows, gpu::SpmmByCublas, gpu::SpmmIntoColumns, gpu::SpmmFromSharedRows,
    gpu::SddmmByWarps, gpu::SddmmByTiles, gpu::SddmmByWindows, gpu::SddmmByNonzeros, gpu::MttkrpByNonzeros,
    gpu::GemmByCublas, gpu::NmByGathering, gpu::NmByBlocks, gpu::NmTransposed, gpu::TwoFourOnTensorCores,
    gpu::TwoFourByWarps, gpu::SpgemmByBins, gpu::SparseSumByMatches
#ifdef SPOROS_HAVE_CUSPARSELT
    ,
    gpu::TwoFourByCusparselt
#endif
#endif
    >;

/// What has other candidates compute parts of a statement, on any space.
using CandidatesOfParts = TypeList<ProductsInBatches, SumsFirst>;

/// The candidates beside the loop nest. Those of other spaces need not be asked whether they match.
template <class Space>
using KernelCandidates =
    std::remove_const_t<decltype(std::conditional_t<HostSpace<Space>, HostKernels, GpuKernels>{} +
                                 CandidatesOfParts{})>;

/// Represents the program that uses Sporos.
struct Program {};

/// The candidates that a program adds, placed before those of the library. Before its first statement the
/// program defines
///
///     template <>
///     struct sporos::OwnCandidates<sporos::Program> {
///       using type = sporos::TypeList<MyCandidate>;
///     };
///
/// in every source file that runs statements (see examples/own_candidate).
template <class Of>
struct OwnCandidates {
  using type = TypeList<>;
};

}  // namespace sporos
