// SPDX-License-Identifier: Apache-2.0
/// @file operands.hpp
/// What the specialised kernels for GPUs admit as operands, their arrays, and room for a CSR result.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "../../core/statement.hpp"
#include "../../formats/named.hpp"
#include "../nest/nest_run.hpp"
#include "../protocol/compute_type.hpp"
#include "../protocol/factors.hpp"
#include "csr.hpp"
#include "launch.hpp"

namespace sporos::gpu {

namespace detail {

template <class F>
inline constexpr bool is_csr = false;
template <class Position, class Coordinate>
inline constexpr bool is_csr<CSR<Position, Coordinate>> = true;
template <class F>
inline constexpr bool is_csc = false;
template <class Position, class Coordinate>
inline constexpr bool is_csc<CSC<Position, Coordinate>> = true;

template <class S>
using compute_of = compute_t<typename S::result_type, typename S::right_type>;

/// The rows of a matrix in CSR, or of the transpose of one in CSC.
template <bool Transposed = false, class TensorType>
auto csr_view(const TensorType& t) {
  const auto& columns = t.template level<1>();
  using Position = typename std::remove_cvref_t<decltype(columns.positions)>::value_type;
  using Coordinate = typename std::remove_cvref_t<decltype(columns.coordinates)>::value_type;
  return CsrView<typename TensorType::value_type, Position, Coordinate>{
      t.extent(Transposed ? 1 : 0), t.extent(Transposed ? 0 : 1), t.nnz(),
      columns.positions.data(),     columns.coordinates.data(),   t.values().data()};
}

/// A CSR result, or the transpose of one in CSC, in the making: positions first, then room for what they
/// hold.
template <class TensorType, bool Transposed = false>
class NewCsr {
 public:
  using Level = typename TensorType::format_type::template level<1>;
  using Value = typename TensorType::value_type;
  using Position = typename Level::position_type;
  using View = CsrView<Value, Position, typename Level::coordinate_type>;

  explicit NewCsr(const Extents<2>& extents) : extents_(turned(extents)) {
    Level::check_extent(extents_[1]);
    storage_.positions = make_array<Position, Memory>("sporos::Compressed positions", extents_[0] + 1);
  }
  Position* positions() const { return storage_.positions.data(); }

  View make_room(std::int64_t nonzeros) {
    storage_.coordinates =
        make_array<typename Level::coordinate_type, Memory>("sporos::Compressed coordinates", nonzeros);
    values_ = make_array<Value, Memory>("sporos::Tensor values", nonzeros);
    return {extents_[0],   extents_[1], nonzeros, storage_.positions.data(), storage_.coordinates.data(),
            values_.data()};
  }
  /// Bytes of a result of so many nonzeros.
  static std::int64_t bytes(const Extents<2>& extents, std::int64_t nonzeros) {
    return (turned(extents)[0] + 1) * static_cast<std::int64_t>(sizeof(Position)) +
           nonzeros * static_cast<std::int64_t>(sizeof(typename Level::coordinate_type) + sizeof(Value));
  }
  void put_into(const TensorType& result) const {
    result.replace(turned(extents_), {{extents_[0]}, storage_}, values_);
  }

 private:
  static Extents<2> turned(const Extents<2>& extents) {
    return Transposed ? Extents<2>{extents[1], extents[0]} : extents;
  }

  Extents<2> extents_;
  typename Level::template Storage<Memory> storage_;
  Array<Value, Memory> values_;
};

}  // namespace detail

/// What the specialised kernels for GPUs admit, for the patterns of `kernels/<operation>/pattern.hpp`: CSR
/// and dense operands of any values in the GPU's memory, the loops in the order that was derived.
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
  static constexpr bool is_csr = detail::is_csr<typename A::format>;
  template <class A>
  static constexpr bool is_dense_vector = std::is_same_v<typename A::format, DenseVector>;
  template <class A>
  static constexpr bool is_dense_by_rows = std::is_same_v<typename A::format, DenseMatrix<>>;
};

/// The same, but for sparse matrices by columns, which are admitted wherever those by rows are, and loops in
/// any order.
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
  static constexpr bool is_csr = detail::is_csr<typename A::format> || detail::is_csc<typename A::format>;
};

}  // namespace sporos::gpu
