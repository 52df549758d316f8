// SPDX-License-Identifier: Apache-2.0
/// @file operands.hpp
/// The operands that the specialised kernels for GPUs admit, their arrays, and room for a CSR result.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../../../core/statement.hpp"
#include "../../../formats/named.hpp"
#include "../../../formats/structure.hpp"
#include "../../cuda/csr.hpp"
#include "../../cuda/launch.hpp"
#include "../../nest/nest_run.hpp"
#include "../../protocol/compute_type.hpp"
#include "../../protocol/factors.hpp"

namespace sporos::gpu {

namespace detail {

using sporos::detail::is_by_columns;
using sporos::detail::is_by_rows;

template <class S>
using compute_of = compute_t<typename S::result_type, typename S::right_type>;

/// The rows of a matrix stored by rows, or of the transpose of one stored by columns.
template <bool Transposed = false, class TensorType>
auto csr_view(const TensorType& t) {
  using Level = typename TensorType::format_type::template level<1>;
  const auto columns = t.template level<1>().segments();
  return CsrView<typename TensorType::value_type, typename Level::position_type,
                 typename Level::coordinate_type>{
      t.extent(Transposed ? 1 : 0), t.extent(Transposed ? 0 : 1), t.nnz(),
      columns.positions.data(),     columns.coordinates.data(),   t.values().data()};
}

/// Whether results by rows or by columns can be built from segments on a GPU.
template <class F, bool HasSegments = is_by_rows<F> || is_by_columns<F>>
inline constexpr bool is_made_of_segments = false;
template <class F>
inline constexpr bool is_made_of_segments<F, true> = BuiltAnywhere<typename F::template level<1>>;

/// A result by rows that is being made, or the transpose of one by columns: first its positions, then room
/// for the coordinates and values.
template <class TensorType, bool Transposed = false>
class NewCsr {
 public:
  using Level = typename TensorType::format_type::template level<1>;
  using Value = typename TensorType::value_type;
  using Position = typename Level::position_type;
  using View = CsrView<Value, Position, typename Level::coordinate_type>;

  explicit NewCsr(const Extents<2>& extents) : extents_(turned(extents)) {
    Level::check_extent(extents_[1]);
    segments_.positions = make_array<Position, Memory>("sporos::positions", extents_[0] + 1);
  }
  Position* positions() const { return segments_.positions.data(); }

  View make_room(std::int64_t nonzeros) {
    segments_.coordinates =
        make_array<typename Level::coordinate_type, Memory>("sporos::coordinates", nonzeros);
    values_ = make_array<Value, Memory>("sporos::Tensor values", nonzeros);
    return {extents_[0],   extents_[1], nonzeros, segments_.positions.data(), segments_.coordinates.data(),
            values_.data()};
  }
  /// The bytes of a result with `nonzeros` nonzeros.
  static std::int64_t bytes(const Extents<2>& extents, std::int64_t nonzeros) {
    return Level::template Storage<Memory>::most_bytes(turned(extents)[0], nonzeros, turned(extents)[1]) +
           nonzeros * static_cast<std::int64_t>(sizeof(Value));
  }
  /// Makes the result from what has been written. A level that does more than keep the arrays needs them
  /// complete.
  void put_into(const TensorType& result) const {
    using Lines = std::tuple_element_t<0, typename TensorType::level_storage>;
    using InLine = std::tuple_element_t<1, typename TensorType::level_storage>;
    result.replace(turned(extents_),
                   {Lines::empty(1, extents_[0]),
                    InLine::template from_segments<Kokkos::Cuda>(segments_, extents_[0], extents_[1])},
                   values_);
  }

 private:
  static Extents<2> turned(const Extents<2>& extents) {
    return Transposed ? Extents<2>{extents[1], extents[0]} : extents;
  }

  Extents<2> extents_;
  SegmentsOf<Level, Memory> segments_;
  Array<Value, Memory> values_;
};

}  // namespace detail

/// Admits operands of the patterns in `kernels/<operation>/pattern.hpp` for the specialised kernels for GPUs:
/// sparse matrices by rows, such as CSR, and dense operands, with any type of values, in the GPU's memory;
/// the loops must be in the derived order.
struct GpuOperands {
  template <class S>
  static constexpr bool admits() {
    using Result = typename S::result_type;
    return std::is_same_v<typename Result::tensor_type::space_type, Kokkos::Cuda> &&
           std::is_same_v<typename S::order, derived_order<Result, typename S::right_type>> &&
           []<class... Accesses>(TypeList<Accesses...>) {
             return (std::is_same_v<typename Accesses::tensor_type::memory_space, Memory> && ...);
           }(accesses_of<typename S::right_type>{});
  }
  template <class A>
  static constexpr bool is_csr = detail::is_by_rows<typename A::format>;
  template <class A>
  static constexpr bool is_dense_vector = std::is_same_v<typename A::format, DenseVector>;
  template <class A>
  static constexpr bool is_dense_by_rows = std::is_same_v<typename A::format, DenseMatrix<>>;
};

/// Admits sparse matrices by columns as well as by rows, and loops in any order.
struct GpuMatrixOperands : GpuOperands {
  template <class S>
  static constexpr bool admits() {
    using Result = typename S::result_type;
    return std::is_same_v<typename Result::tensor_type::space_type, Kokkos::Cuda> &&
           []<class... Accesses>(TypeList<Accesses...>) {
             return (std::is_same_v<typename Accesses::tensor_type::memory_space, Memory> && ...);
           }(accesses_of<typename S::right_type>{});
  }
  template <class A>
  static constexpr bool is_csr =
      detail::is_by_rows<typename A::format> || detail::is_by_columns<typename A::format>;
};

}  // namespace sporos::gpu
