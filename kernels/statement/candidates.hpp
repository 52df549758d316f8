// SPDX-License-Identifier: Apache-2.0
/// @file candidates.hpp
/// Specialised kernels in place of the loop nest, where the types of a statement say that one computes it.
///
/// A specialised kernel is a type K that says, for a statement of type S,
///
///     K::name              what it is called where a statement is explained
///     K::matches<S>        whether it computes the statement, by formats, variables, values, space alone
///     K::is_deterministic  whether its results are the same, bit by bit, however its threads run
///     K::run(statement)    computes it, and returns true; or returns false, with nothing changed, where it
///                          finds at run time that it does not: then the loop nest runs
///
/// and that may have
///
///     K::Refill<S>         made of a statement that has run: computes its values anew in the same pattern,
///                          for plans
///
/// To add one, put it into the list below. A statement made by `.generic()` runs through the nest always, and
/// so does one over a semiring or with a workspace of the user's choice.
#pragma once

#include <string_view>
#include <type_traits>

#include "../../core/statement.hpp"
#include "../mttkrp/host/candidate.hpp"
#include "../sddmm/host/candidate.hpp"
#include "../spgemm/host/candidate.hpp"
#include "../spmm/host/candidate.hpp"
#include "../spmv/host/candidate.hpp"

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
#include "../add/cuda/candidate.hpp"
#include "../mttkrp/cuda/candidate.hpp"
#include "../sddmm/cuda/candidate.hpp"
#include "../spgemm/cuda/candidate.hpp"
#include "../spmv/cuda/candidate.hpp"
#endif

namespace sporos {

/// The specialised kernels, first match first.
using SpecialisedKernels = TypeList<
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
    cuda::SpmvByTiles, cuda::SddmmByWarps, cuda::MttkrpByNonzeros, cuda::SpgemmByBins,
    cuda::SparseSumByMatches,
#endif
    SpmvByRows, SpmmByRows, SddmmByRows, SpgemmByRows, MttkrpByFibers<true>, MttkrpByFibers<false>>;

namespace detail {

/// Whether a kernel computes a statement in the way that its schedule asks for.
template <class Kernel, class S>
constexpr bool takes() {
  using How = typename S::schedule;
  if constexpr (How::is_generic || !How::is_arithmetic || How::workspace != WorkspaceChoice::automatic)
    return false;
  else
    return (Kernel::is_deterministic || !How::is_deterministic) && Kernel::template matches<S>;
}

/// The name of the kernel that is tried first; "" where none is.
template <class S, class... Kernels>
constexpr std::string_view first_match(TypeList<Kernels...>) {
  std::string_view name;
  (void)((takes<Kernels, S>() ? (name = Kernels::name, true) : false) || ...);
  return name;
}

template <class Kernel, class S>
bool try_kernel(const S& statement) {
  if constexpr (takes<Kernel, S>())
    return Kernel::run(statement);
  else
    return false;
}
template <class S, class... Kernels>
constexpr bool any_takes(TypeList<Kernels...>) {
  return (takes<Kernels, S>() || ...);
}
template <class S, class... Kernels>
bool try_kernels(const S& statement, TypeList<Kernels...>) {
  return (try_kernel<Kernels>(statement) || ...);
}

/// The Refill of the specialised kernel that computes statements of type S; none where it has none.
template <class S, class... Kernels>
struct RefillOfKernel {
  static constexpr bool exists = false;
};
template <class S, class Kernel, class... Kernels>
  requires(!takes<Kernel, S>())
struct RefillOfKernel<S, Kernel, Kernels...> : RefillOfKernel<S, Kernels...> {};
template <class S, class Kernel, class... Kernels>
  requires(takes<Kernel, S>() && requires { typename Kernel::template Refill<S>; })
struct RefillOfKernel<S, Kernel, Kernels...> {
  static constexpr bool exists = true;
  using type = typename Kernel::template Refill<S>;
};

template <class S, class... Kernels>
RefillOfKernel<S, Kernels...> refill_of_kernel(TypeList<Kernels...>);

}  // namespace detail

/// Whether a specialised kernel may compute statements of type S.
template <class S>
inline constexpr bool has_specialised_kernel = detail::any_takes<S>(SpecialisedKernels{});

/// The name of the specialised kernel that is tried first for statements of type S; "" where the nest runs.
template <class S>
constexpr std::string_view specialised_kernel_name() {
  if constexpr (has_specialised_kernel<S>)
    return detail::first_match<S>(SpecialisedKernels{});
  else
    return "";
}

/// Computes a statement by a specialised kernel; false, with nothing changed, where none does.
template <class S>
bool run_specialised(const S& statement) {
  if constexpr (has_specialised_kernel<S>)
    return detail::try_kernels(statement, SpecialisedKernels{});
  else
    return false;
}

}  // namespace sporos
