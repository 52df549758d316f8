// SPDX-License-Identifier: Apache-2.0
/// @file space.hpp
/// Execution spaces: the names that users write, the concepts, and the lifetime of Kokkos.
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <type_traits>

#include "error.hpp"

#if KOKKOS_VERSION < 40700
#error "Sporos needs Kokkos 4.7 or newer"
#endif

namespace sporos {

/// The default host space of Kokkos: OpenMP if it is enabled, else Serial.
using Host = Kokkos::DefaultHostExecutionSpace;
#ifdef KOKKOS_ENABLE_SERIAL
using Serial = Kokkos::Serial;
#endif
#ifdef KOKKOS_ENABLE_OPENMP
using OpenMP = Kokkos::OpenMP;
#endif
#ifdef KOKKOS_ENABLE_CUDA
using Cuda = Kokkos::Cuda;
#endif

/// Where a tensor lives and where its statements run: any Kokkos execution space.
template <class Space>
concept ExecutionSpace = Kokkos::is_execution_space_v<Space>;

/// A space whose memory the host reads and writes directly.
template <class Space>
concept HostSpace =
    ExecutionSpace<Space> &&
    static_cast<bool>(
        Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible);

/// Where host code works on a tensor of `Space`: in that space if the host can read its memory, else in Host.
template <ExecutionSpace Space>
using HostSpaceOf = std::conditional_t<HostSpace<Space>, Space, Host>;

/// Throws StateError unless Kokkos is running: every allocation needs it.
inline void expect_kokkos() {
  if (!Kokkos::is_initialized() || Kokkos::is_finalized())
    throw StateError(
        "Kokkos is not running: begin main with `sporos::ScopeGuard guard(argc, argv);` (or "
        "Kokkos::initialize)");
}

/// Initialises Kokkos and finalises it at the end of the scope, unless the caller has initialised it already.
class ScopeGuard {
 public:
  ScopeGuard(int& argc, char** argv) : owner_(!Kokkos::is_initialized()) {
    if (owner_) Kokkos::initialize(argc, argv);
  }
  explicit ScopeGuard(const Kokkos::InitializationSettings& settings = {})
      : owner_(!Kokkos::is_initialized()) {
    if (owner_) Kokkos::initialize(settings);
  }
  ~ScopeGuard() {
    if (owner_ && !Kokkos::is_finalized()) Kokkos::finalize();
  }
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;

 private:
  bool owner_;
};

}  // namespace sporos
