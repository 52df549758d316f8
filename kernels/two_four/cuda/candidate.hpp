// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of a 2:4 sparse and a dense matrix on the GPU, as a candidate for statements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../../core/components.hpp"
#include "../../cuda/once_per_device.hpp"
#include "../../cuda/operands.hpp"
#include "../../cuda/padded.hpp"
#include "../../nest/bounds.hpp"
#include "../../protocol/candidate.hpp"
#include "../../results/dense_target.hpp"
#include "../pattern.hpp"
#include "tensor_cores.hpp"

namespace sporos::gpu {

/// C(i, j) = A(i, k) * B(k, j) or A(j, k) * B(k, i), with A in TwoFour, B dense by rows or columns, C dense
/// and row-major; or an epilogue of such a product (kernels/epilogue/epilogue.hpp), also for batches,
/// C(b, i, j) = f(B(b, i, k) * A(j, k)). Runs on sparse tensor cores (tensor_cores.hpp). On a GPU whose
/// compute capability is not 9.0, or in a program compiled for sm_90 instead of sm_90a, the loop nest
/// computes it.
///
/// Operands are read in place if k is a multiple of 128 and rows of B are a multiple of 16 bytes long;
/// otherwise they are copied first, A only once, by the plan, if the statement says
/// `.with_constant_operands()`. A plan allocates all that its runs need.
///
/// Where a window stores a place without an entry, it holds a zero that is multiplied by some element of B:
/// if that is infinite or NaN, the result becomes NaN.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct TwoFourOnTensorCores {
  struct Operands : GpuMatrixOperands {
    template <class C, class A, class B>
    static constexpr bool computes =
        std::is_same_v<typename A::value_type, typename B::value_type> &&
        is_narrow_float_v<typename A::value_type> &&
        (is_narrow_float_v<typename C::value_type> || std::is_same_v<typename C::value_type, float>);
  };
  template <class S>
  using Pattern = TwoFourPatternOf<Operands, S>;
  static constexpr std::string_view name = "2:4 product on sparse tensor cores";
  static constexpr std::string_view takes =
      "C(i, j) = A(i, k) * B(k, j) or A(j, k) * B(k, i), or an epilogue of C(b, i, j) = B(b, i, k) * A(j, "
      "k), "
      "A in TwoFour, B dense, C dense and row-major, half or bfloat16 in A and B, in the memory of a GPU of "
      "compute capability 9.0";
  static constexpr bool deterministic = true;

  template <class S>
  static constexpr bool matches = Pattern<S>::template matches<S>;

  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources);

  template <class S>
  class Plan;
};

template <class S>
class TwoFourOnTensorCores::Plan {
  using Pattern = TwoFourOnTensorCores::Pattern<S>;
  using Sparse = std::remove_cvref_t<decltype(Pattern::sparse(std::declval<const S&>()))>;
  using DenseAccess = std::remove_cvref_t<decltype(Pattern::dense(std::declval<const S&>()))>;
  using T = typename Sparse::value_type;
  using Out = typename S::result_type::value_type;
  using Product = TiledProduct<Out, decltype(epilogue_by_rows(std::declval<const S&>()))>;

  static constexpr char inner = Sparse::names[1];
  /// Whether B and the result have the rows of all batches.
  static constexpr bool is_of_batches = S::result_type::format::order == 3;
  static constexpr bool b_is_by_rows = DenseAccess::level_names[0] == inner;
  /// Whether the rows of the result are those of A.
  static constexpr bool c_is_by_rows = S::result_type::names[0] == Sparse::names[0];
  template <int Tile>
  using Config = TwoFourConfig<T, two_four_tiles[Tile].columns, b_is_by_rows, two_four_tiles[Tile].groups>;
  template <int Tile>
  static constexpr auto kernel = &detail::two_four_kernel<Config<Tile>, c_is_by_rows, Product>;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>&) : statement_(statement) {
    bounds_of(statement);  // throws ShapeError if extents do not match
  }

  /// Whether this device and the compiled code have sparse tensor cores fed by a copy engine.
  static bool are_there(const Kokkos::Cuda& space) {
    const bool are_compiled = once_per_device(space, [] { return has_wgmma(kernel<2>); });
    return are_compiled && space.cuda_device_prop().major == 9;
  }

  std::int64_t largest_extent() const { return std::max({m(), n(), k()}); }

  /// The seconds that a product is expected to take.
  double seconds() const { return choice().seconds; }

  /// Allocates what runs need, and copies A if it has to be copied and is constant.
  void prepare() {
    if (m() == 0 || n() == 0 || k() == 0) return;  // the result may have no memory yet
    room_.prepare(statement_.resources().scratch(), copied_b_bytes());
    if (copies_a()) S::schedule::has_constant_operands ? copy_a() : hold_copy_of_a();
  }

  void run() {
    if (result().nnz() == 0) return;
    const sporos::detail::DenseTarget<S> target(statement_);
    k() == 0 ? apply_epilogue<S, float>(statement_, nullptr, target.data()) : multiply(target.data());
    target.finish();
  }

  Bytes bytes() const {
    return {result().nnz(), result().bytes(),
            sporos::detail::DenseTarget<S>::bytes(statement_) + copied_a(nullptr).bytes +
                with_room_to_grow(copied_b_bytes())};
  }
  std::int64_t held_bytes() const { return static_cast<std::int64_t>(copy_of_a_.extent(0)); }

  void explain(std::ostream& out) const {
    if (is_of_batches) out << "  batches: " << result().extent(0) << ", as the rows of one product\n";
    const TwoFourChoice chosen = choice();
    const TwoFourTile& tile = two_four_tiles[static_cast<std::size_t>(chosen.tile)];
    out << "  result: located, tiles of " << tile.rows() << " x " << tile.columns
        << " by sparse matrix instructions";
    if (chosen.blocks > 1)
      out << ", " << chosen.blocks << " thread blocks "
          << (chosen.shares == ClusterShares::tile ? "each" : "read the dense operand together");
    if (!Product::epilogue_is_identity) out << ", the epilogue applied as they are stored";
    out << '\n';
    if (copies_a())
      out << "  operands: the sparse one is copied to aligned rows"
          << (S::schedule::has_constant_operands ? " once\n" : " in each run\n");
    if (copies_b()) out << "  operands: the dense one is copied to aligned rows in each run\n";
  }

 private:
  const auto& a() const { return Pattern::sparse(statement_).tensor(); }
  const auto& b() const { return Pattern::dense(statement_).tensor(); }
  const auto& result() const { return statement_.result().tensor(); }
  const Kokkos::Cuda& space() const { return statement_.resources().space(); }
  std::int64_t m() const { return a().extent(0); }
  std::int64_t n() const {
    return is_of_batches ? result().extent(0) * result().extent(1) : result().extent(c_is_by_rows ? 1 : 0);
  }
  std::int64_t k() const { return a().extent(1); }

  static bool is_aligned(const void* at) {
    return reinterpret_cast<std::uintptr_t>(at) % operand_alignment == 0;
  }
  const T* values() const { return component<Role::values, T>(a()); }
  const std::uint8_t* metadata() const { return component<Role::metadata, std::uint8_t>(a()); }
  const T* dense() const { return component<Role::dense, T>(b()); }

  std::int64_t windows() const { return ceil_div(k(), 4); }
  std::int64_t padded_k() const {
    return ceil_div(k(), Config<0>::Metadata::aligned_columns) * Config<0>::Metadata::aligned_columns;
  }
  bool copies_a() const { return k() != padded_k() || !is_aligned(values()) || !is_aligned(metadata()); }
  std::int64_t rows_of_b() const { return b_is_by_rows ? k() : n(); }
  std::int64_t columns_of_b() const { return b_is_by_rows ? n() : k(); }
  std::int64_t stride_of_b() const {
    return ceil_div(columns_of_b(), Config<0>::Dense::aligned_columns) * Config<0>::Dense::aligned_columns;
  }
  bool copies_b() const { return columns_of_b() != stride_of_b() || !is_aligned(dense()); }
  std::int64_t copied_b_bytes() const {
    return copies_b() ? rows_of_b() * stride_of_b() * static_cast<std::int64_t>(sizeof(T)) : 0;
  }

  struct CopyOfA {
    T* values = nullptr;
    std::uint8_t* indices = nullptr;
    std::int64_t bytes = 0;
  };
  CopyOfA copied_a(char* memory) const {
    if (!copies_a()) return {};
    Layout layout(memory);
    CopyOfA out;
    out.values = layout.template take<T>(m() * padded_k() / 2);
    out.indices = layout.template take<std::uint8_t>(m() * padded_k() / 8);
    out.bytes = layout.bytes();
    return out;
  }

  TwoFourChoice choice() const {
    const auto clusters =
        once_per_device(space(), [&] { return clusters_of<Config<2>>(space(), kernel<2>); });
    return choose_two_four(m(), n(), padded_k() / Config<0>::stage_k,
                           space().cuda_device_prop().multiProcessorCount, clusters);
  }

  /// Allocates memory for the copy of A.
  void hold_copy_of_a() {
    if (copy_of_a_.extent(0) == 0)
      copy_of_a_ = make_array<char, Memory>("sporos::copy of a 2:4 matrix", copied_a(nullptr).bytes);
  }
  void copy_a() {
    if (is_copied_ && S::schedule::has_constant_operands) return;
    hold_copy_of_a();
    const CopyOfA copy = copied_a(copy_of_a_.data());
    pad_rows(space(), values(), m(), windows() * 2, padded_k() / 2, copy.values);
    pad_windows(space(), metadata(), m(), windows(), padded_k() / 8, copy.indices);
    is_copied_ = true;
  }

  void multiply(Out* c) {
    if (copies_a()) copy_a();
    room_.with(statement_.resources().scratch(), copied_b_bytes(), [&](char* memory) {
      if (!copies_b()) return multiply(dense(), c);
      T* const copy = reinterpret_cast<T*>(memory);
      pad_rows(space(), dense(), rows_of_b(), columns_of_b(), stride_of_b(), copy);
      multiply(copy, c);
    });
  }
  /// @param b  B, or its copy
  void multiply(const T* b, Out* c) const {
    const CopyOfA copy = copied_a(copy_of_a_.data());
    const T* const kept = copies_a() ? copy.values : values();
    const std::uint8_t* const places = copies_a() ? copy.indices : metadata();
    const TwoFourOperands<T> operands{kept,        places,         padded_k(),   b,
                                      rows_of_b(), columns_of_b(), stride_of_b()};
    const Product product{m(), n(), k(), c, statement_.accumulates(), epilogue_by_rows(statement_)};
    const TwoFourChoice chosen = choice();
    with_two_four_tile(chosen.tile, [&]<int Tile>(std::integral_constant<int, Tile>) {
      two_four_product<Config<Tile>, c_is_by_rows>(space(), product, operands, chosen);
    });
  }

  const S& statement_;
  bool is_copied_ = false;
  RoomOfPlan room_;
  Array<char, Memory> copy_of_a_;
};

template <class S>
Offer TwoFourOnTensorCores::cost(const S& statement, const Resources<Kokkos::Cuda>& resources) {
  if (!Plan<S>::are_there(resources.space()))
    return Declined{"the GPU, or the code that was compiled for it, has no instructions of sm_90a"};
  const Plan<S> plan(statement, resources);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 2;
  if (plan.largest_extent() > most) return Declined{"the copy engine counts rows and columns in 32 bits"};
  return Cost{plan.seconds()};
}

}  // namespace sporos::gpu
