// SPDX-License-Identifier: Apache-2.0
/// @file sum_of_ranks.hpp
/// A dense result that every rank gets, as the sum of what the ranks compute.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <memory>

#include "../core/array.hpp"
#include "../core/tensor.hpp"
#include "communicator.hpp"
#include "cuda/transport.hpp"

namespace sporos::detail {

/// values[at] += more[at].
template <class Value>
struct AddValues {
  const Value* more;
  Value* values;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at) const {
    values[at] = static_cast<Value>(values[at] + more[at]);
  }
};

/// Adds the values of a dense tensor over ranks: by NCCL in the memories of GPUs, if values travel by NCCL
/// and it can add this type; otherwise by MPI on the host.
template <class T>
class SumOfRanks {
 public:
  using Value = typename T::value_type;
  using Space = typename T::space_type;

  SumOfRanks() = default;
  /// Collective.
  explicit SumOfRanks(const Communicator& ranks) : ranks_(ranks) {
#ifdef KOKKOS_ENABLE_CUDA
    if constexpr (is_device)
      if (ranks.size() > 1) link_ = DeviceLink::of(ranks);
#endif
  }

  /// Collective.
  /// @param mine  what this rank has computed; it is overwritten
  /// @param to    receives the sums, the same tensor on every rank
  /// @param adds  whether the sums are added to the old values, or replace them
  void run(const Space& space, const T& mine, const T& to, bool adds) const {
#ifdef KOKKOS_ENABLE_CUDA
    if constexpr (is_device)
      if (link_ && link_->template adds<Value>()) {
        link_->sum(space, mine.values());
        put(space, mine.values(), to, adds);
        return;
      }
#endif
    const auto sum = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), mine.values());
    ranks_.sum(sum.data(), mine.nnz());
    if constexpr (!HostSpace<Space>) Kokkos::deep_copy(mine.values(), sum);
    put(space, mine.values(), to, adds);
    space.fence("sporos::SumOfRanks put");
  }

 private:
#ifdef KOKKOS_ENABLE_CUDA
  static constexpr bool is_device = std::is_same_v<Space, Kokkos::Cuda>;
  std::shared_ptr<const DeviceLink> link_;
#endif

  static void put(const Space& space, const Array<Value, typename T::memory_space>& sums, const T& to,
                  bool adds) {
    if (adds)
      Kokkos::parallel_for("sporos::SumOfRanks add",
                           Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, to.nnz()),
                           AddValues<Value>{sums.data(), to.values().data()});
    else
      Kokkos::deep_copy(space, to.values(), sums);
  }

  Communicator ranks_;
};

}  // namespace sporos::detail
