// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of a dense and an N:M sparse matrix on the GPU, as a candidate for statements.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../cuda/operands.hpp"
#include "../../nest/bounds.hpp"
#include "../../statement/candidate.hpp"
#include "../../statement/dense_target.hpp"
#include "../pattern.hpp"
#include "cuda_cores.hpp"
#include "k_major.hpp"
#include "tensor_cores.hpp"

namespace sporos::gpu {

/// C(i, j) = A(i, k) * B(k, j), B in NM<N, M, L> or its transpose in NM<N, M, L, 1>, A dense, C dense and
/// row-major.
///
/// On tensor cores where A and B hold the same 16-bit floats and L is a multiple of 32, which four matrix
/// instructions share; else on CUDA cores. A plan packs B for tensor cores in its first run, and again in
/// each later one unless the statement says `.with_constant_operands()`.
///
/// Returns before the GPU is through: what follows on the default stream of Kokkos runs behind it, and copies
/// to the host wait for it, as do Kokkos::fence() and the end of an array's life.
struct NmByGathering {
  struct Operands : GpuOperands {
    template <class S>
    static constexpr bool admits() {
      return GpuMatrixOperands::template admits<S>();
    }
    template <class T>
    static constexpr bool is_float = std::is_floating_point_v<T> || is_narrow_float_v<T>;
    /// Floats of one type in both factors, of any in the result.
    template <class C, class A, class B>
    static constexpr bool computes = std::is_same_v<typename A::value_type, typename B::value_type> &&
                                     is_float<typename A::value_type> && is_float<typename C::value_type>;
  };
  using Pattern = NmPattern<Operands>;
  static constexpr std::string_view name = "N:M product by gathering";
  static constexpr std::string_view takes =
      "C(i, j) = A(i, k) * B(k, j), B in NM<N, M, L> or B(j, k) in NM<N, M, L, 1>, A dense, C dense and "
      "row-major, floats in the memory of the GPU";
  static constexpr bool deterministic = true;
  static constexpr bool replaces_nest = true;
  static constexpr double seconds_of_launch = 8e-6;
  static constexpr double seconds_of_term = 1e-14;

  template <class S>
  static constexpr bool matches = Pattern::matches<S>;

  template <class S>
  class Plan;
};

namespace detail {

/// How B is cut for tensor cores, chosen by its density: stages of 128 rows where three steps of 16 hold what
/// is kept of them, else of 64.
template <int N, int M>
inline constexpr NmPacking packing_for = [] {
  const int of_128 = NmPacking::most_kept(N, M, 128), of_64 = NmPacking::most_kept(N, M, 64);
  return of_128 <= 48 ? NmPacking{128, (of_128 + 15) / 16} : NmPacking{64, (of_64 + 15) / 16};
}();

}  // namespace detail

template <class S>
class NmByGathering::Plan {
  using Sparse = std::remove_cvref_t<decltype(Pattern::sparse(std::declval<const S&>()))>;
  using DenseAccess = std::remove_cvref_t<decltype(Pattern::dense(std::declval<const S&>()))>;
  using Traits = NmTraits<typename Sparse::format>;
  using T = typename Sparse::value_type;
  using Out = typename S::result_type::value_type;

  /// Whether A is stored k-major.
  static constexpr bool is_k_major = DenseAccess::level_names[1] == S::result_type::names[0];
  static constexpr bool for_tensor_cores = is_narrow_float_v<T> && Traits::unit % ColumnsOfWarp::columns == 0;
  static constexpr NmPacking packing = detail::packing_for<Traits::kept, Traits::window>;
  /// Tiles for results that fill the GPU with them, and for smaller ones.
  static constexpr int packed_columns = 256;
  template <int BlockM, int BlockN, int Stages>
  using Config = NmTensorCoreConfig<T, BlockM, BlockN, packing.stage_rows, packing.steps, Stages>;
  using Large = Config<128, packed_columns, (packing.stage_rows == 128 || packing.steps == 4 ? 3 : 4)>;
  using Small = Config<64, 128, 5>;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>& resources)
      : statement_(statement), on_tensor_cores_(for_tensor_cores && are_there(resources.space())) {
    bounds_of(statement);  // what does not fit is named by its variable
  }

  void run() {
    is_packed_ = false;
    refill();
  }

  void refill() {
    if (result().nnz() == 0) return;
    const sporos::detail::DenseTarget<S> target(statement_);
    if (b().nnz() == 0) {
      if (!statement_.accumulates()) zero(space(), target.data(), result().nnz());
    } else if constexpr (for_tensor_cores) {
      on_tensor_cores_ ? multiply(target.data()) : gather(target.data());
    } else {
      gather(target.data());
    }
    target.finish();
  }

  Bytes bytes() const {
    std::int64_t workspace = sporos::detail::DenseTarget<S>::bytes(statement_);
    if (on_tensor_cores_) workspace += packed_bytes() + k_major_bytes() + k_major_bytes() / 8;
    return {result().nnz(), result().bytes(), workspace};
  }
  std::int64_t held_bytes() const { return static_cast<std::int64_t>(packed_.extent(0)); }

  void explain(std::ostream& out) const {
    out << "  result: located, tiles of "
        << (on_tensor_cores_ ? "matrix instructions whose rows are gathered\n"
                             : "sums in registers whose rows are gathered from shared memory\n");
    if (!on_tensor_cores_) return;
    out << "  operands: the sparse one is packed"
        << (S::schedule::has_constant_operands ? " once" : " for each run")
        << (reads_a_in_place() ? "\n" : ", the dense one is copied k-major first\n");
  }

 private:
  const auto& a() const { return Pattern::dense(statement_).tensor(); }
  const auto& b() const { return Pattern::sparse(statement_).tensor(); }
  const auto& result() const { return statement_.result().tensor(); }
  const Kokkos::Cuda& space() const { return statement_.resources().space(); }
  std::int64_t m() const { return result().extent(0); }
  std::int64_t n() const { return result().extent(1); }
  std::int64_t k() const { return b().extent(Traits::along); }

  NmView<T> view() const {
    NmView<T> out;
    out.rows = k();
    out.columns = n();
    out.kept = Traits::kept;
    out.window = Traits::window;
    out.unit = Traits::unit;
    out.window_stride = Traits::along == 0 ? ceil_div(n(), Traits::unit) * Traits::kept : Traits::kept;
    out.unit_stride = Traits::along == 0 ? Traits::kept : ceil_div(k(), Traits::window) * Traits::kept;
    out.indices = b().template level<2>().indices.data();
    out.values = b().values().data();
    return out;
  }

  void gather(Out* c) const {
    NmGather<T, Out> in;
    in.m = m();
    in.a = a().values().data();
    in.a_row = is_k_major ? 1 : k();
    in.a_column = is_k_major ? m() : 1;
    in.b = view();
    in.c = c;
    in.accumulates = statement_.accumulates();
    nm_gather(space(), in);
  }

  /// Whether this device and the code that was compiled have tensor cores fed by a copy engine.
  static bool are_there(const Kokkos::Cuda& space) {
    if constexpr (for_tensor_cores) {
      static const bool are_compiled = [] {
        cudaFuncAttributes of_kernel{};
        expect_success(cudaFuncGetAttributes(&of_kernel, &detail::nm_tensor_core_kernel<Small, Out>),
                       "the version of a kernel");
        return of_kernel.binaryVersion >= 90;
      }();
      return are_compiled && space.cuda_device_prop().major >= 9;
    } else {
      return false;
    }
  }

  /// Elements from one row of the k-major A to the next.
  std::int64_t stride() const { return is_k_major && m() % 8 == 0 ? m() : ceil_div(m(), 8) * 8; }
  bool reads_a_in_place() const {
    return is_k_major && m() % 8 == 0 && reinterpret_cast<std::uintptr_t>(a().values().data()) % 16 == 0;
  }
  std::int64_t k_major_bytes() const {
    if (reads_a_in_place()) return 0;
    Layout layout;
    layout.template take<T>(k() * stride());
    return layout.bytes();
  }
  std::int64_t packed_bytes() const { return packing.bytes_of(k(), n(), packed_columns); }

  void multiply(Out* c)
    requires(for_tensor_cores)
  {
    if (!is_packed_ || !S::schedule::has_constant_operands) {
      if (packed_.extent(0) == 0) packed_ = make_array<char, Memory>("sporos::packed N:M", packed_bytes());
      pack_nm(space(), view(), packing, packed_columns, packed_.data());
      is_packed_ = true;
    }
    auto workspace = statement_.resources().scratch().template borrow<Workspace>();
    const T* k_major = a().values().data();
    if (!reads_a_in_place()) {
      T* const copy = Layout(workspace->reserve(k_major_bytes())).template take<T>(k() * stride());
      if constexpr (is_k_major)
        expect_success(
            cudaMemcpy2DAsync(copy, static_cast<std::size_t>(stride()) * sizeof(T), k_major,
                              static_cast<std::size_t>(m()) * sizeof(T), static_cast<std::size_t>(m()) * sizeof(T),
                              static_cast<std::size_t>(k()), cudaMemcpyDeviceToDevice, space().cuda_stream()),
            "copy the dense factor");
      else
        transpose_halves(space(), k_major, m(), k(), copy, stride());
      k_major = copy;
    }
    const CUtensorMap map = tensor_map(k_major, k(), m(), stride(), packing.stage_rows);
    NmProduct<T, Out> product;
    product.m = m();
    product.n = n();
    product.k = k();
    product.packed = packed_.data();
    product.c = c;
    product.accumulates = statement_.accumulates();
    const int multiprocessors = space().cuda_device_prop().multiProcessorCount;
    const auto tiles = ceil_div(m(), Large::block_m) * ceil_div(n(), Large::block_n);
    if (tiles >= multiprocessors)
      nm_product<Large>(space(), product, map, multiprocessors);
    else
      nm_product<Small>(space(), product, map, multiprocessors);
  }

  const S& statement_;
  bool on_tensor_cores_;
  bool is_packed_ = false;
  Array<char, Memory> packed_;
};

}  // namespace sporos::gpu
