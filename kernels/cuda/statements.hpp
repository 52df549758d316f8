// SPDX-License-Identifier: Apache-2.0
/// @file statements.hpp
/// Which statements the kernels of this folder compute.
///
/// SpMV, SDDMM and MTTKRP leave their work to the GPU and return: what follows on the default stream of
/// Kokkos runs behind it, and copies to the host wait for it, as do Kokkos::fence() and the end of an array's
/// life.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../../core/statement.hpp"
#include "../../formats/named.hpp"
#include "../../formats/shared_levels.hpp"
#include "../add/cuda/add.hpp"
#include "../mttkrp/cuda/mttkrp.hpp"
#include "../mttkrp/pattern.hpp"
#include "../nest/lower.hpp"
#include "../sddmm/cuda/sddmm.hpp"
#include "../spgemm/cuda/spgemm.hpp"
#include "../spmv/cuda/spmv.hpp"
#include "../statement/compute_type.hpp"
#include "operands.hpp"

namespace sporos::cuda {

/// y(i) = A(i, j) * x(j), A in CSR: spmv.hpp.
struct SpmvStatement {
  static constexpr std::string_view name = "SpMV on the GPU";
  static constexpr bool is_deterministic = true;

  template <class Result, class A, class X>
  static constexpr bool fits() {
    if constexpr (detail::is_csr<typename A::format> && std::is_same_v<typename X::format, DenseVector> &&
                  std::is_same_v<typename Result::format, DenseVector>)
      return A::names[0] == Result::names[0] && A::names[1] == X::names[0] && A::names[0] != A::names[1];
    else
      return false;
  }
  /// Which of two factors is the matrix; -1 where the product is no such one.
  template <class S>
  static constexpr int matrix_place() {
    return detail::places_of_factors<SpmvStatement, S, 2>()[0];
  }
  template <class S>
  static constexpr bool computes() {
    return matrix_place<S>() >= 0;
  }
  template <class S>
  static constexpr bool matches = detail::matches<SpmvStatement, S>();

  template <class S>
  static bool run(const S& statement) {
    constexpr int place = matrix_place<S>();
    const auto& x = detail::factor<1 - place>(statement.right()).tensor();
    const auto& y = statement.result().tensor();
    bounds_of(statement);
    if (detail::reads_result(statement)) return false;
    const auto a = detail::csr_view(detail::factor<place>(statement.right()).tensor());
    const Kokkos::Cuda space;
    spmv<detail::compute_of<S>>(space,
                                SpmvArguments{a.rows, a.positions, a.coordinates, a.values, x.values().data(),
                                              y.values().data(), statement.accumulates()},
                                a.nonzeros, shared_workspace<SpmvWorkspace>());
    return true;
  }
};

/// A(i, j) = B(i, j) * C(i, k) * D(j, k) with A and B in CSR, C and D dense, factors in any order, C and D
/// stored along either mode: sddmm.hpp.
struct SddmmStatement {
  static constexpr std::string_view name = "SDDMM on the GPU";
  static constexpr bool is_deterministic = true;

  /// C or D: i or j along one mode, along the other what is summed.
  template <class A, class Other>
  static constexpr bool is_dense_factor(char outer) {
    if constexpr (A::format::is_dense && A::format::order == 2 && !A::format::is_blocked &&
                  std::is_same_v<typename A::value_type, typename Other::value_type>)
      return A::names[0] == outer || A::names[1] == outer;
    else
      return false;
  }
  template <class A>
  static constexpr char summed(char outer) {
    return A::names[A::names[0] == outer ? 1 : 0];
  }
  template <class Result, class B, class C, class D>
  static constexpr bool fits() {
    if constexpr (detail::is_csr<typename Result::format> &&
                  std::is_same_v<typename B::format, typename Result::format> &&
                  std::is_same_v<typename B::value_type, typename Result::value_type>) {
      constexpr char i = Result::names[0];
      constexpr char j = Result::names[1];
      if (B::names != Result::names || i == j || !is_dense_factor<C, D>(i) || !is_dense_factor<D, C>(j))
        return false;
      return summed<C>(i) == summed<D>(j) && !Result::names.contains(summed<C>(i));
    } else {
      return false;
    }
  }
  /// Where the product has the pattern B, the factor of its rows C and that of its columns D.
  template <class S>
  static constexpr std::array<int, 3> places() {
    return detail::places_of_factors<SddmmStatement, S, 3>();
  }
  template <class S>
  static constexpr bool computes() {
    return places<S>()[0] >= 0;
  }
  template <class S>
  static constexpr bool matches = detail::matches<SddmmStatement, S>();

  template <class S>
  static bool run(const S& statement) {
    static constexpr auto at = places<S>();
    constexpr char i = S::result_type::names[0];
    constexpr char j = S::result_type::names[1];
    const auto& pattern = detail::factor<at[0]>(statement.right()).tensor();
    const auto& c = detail::factor<at[1]>(statement.right());
    const auto& d = detail::factor<at[2]>(statement.right());
    const auto& result = statement.result().tensor();
    using Tensor = std::remove_cvref_t<decltype(result)>;
    using T = typename std::remove_cvref_t<decltype(c.tensor())>::value_type;
    bounds_of(statement);
    const auto b = detail::csr_view(pattern);
    const std::int64_t inner = b.rows > 0 ? c.tensor().nnz() / b.rows : 0;

    // Both dense matrices with the summed mode contiguous: transposed where they are not.
    const Kokkos::Cuda space;
    constexpr bool turn_c = std::remove_cvref_t<decltype(c)>::level_names[0] != i;
    constexpr bool turn_d = std::remove_cvref_t<decltype(d)>::level_names[0] != j;
    const auto cut = [&](char* memory) {
      Layout layout(memory);
      T* const turned_c = turn_c ? layout.template take<T>(c.tensor().nnz()) : nullptr;
      T* const turned_d = turn_d ? layout.template take<T>(d.tensor().nnz()) : nullptr;
      return std::tuple(layout.bytes(), turned_c, turned_d);
    };
    const auto [bytes, turned_c, turned_d] = cut(shared_workspace().reserve(std::get<0>(cut(nullptr))));
    if (turn_c) transpose(space, inner, b.rows, c.tensor().values().data(), turned_c);
    if (turn_d) transpose(space, inner, b.columns, d.tensor().values().data(), turned_d);

    // The result's own values where nobody else has them and nothing reads them.
    auto values = result.values();
    if (result.nnz() != b.nonzeros || values.use_count() > 2 || values.use_count() == 0 ||
        detail::reads_result(statement))
      values = make_array<typename Tensor::value_type, Memory>("sporos::Tensor values", b.nonzeros);
    sddmm<detail::compute_of<S>>(
        space,
        SddmmArguments{b.rows, b.nonzeros, inner, b.positions, b.coordinates, b.values,
                       turn_c ? static_cast<const T*>(turned_c) : c.tensor().values().data(),
                       turn_d ? static_cast<const T*>(turned_d) : d.tensor().values().data(), values.data()});
    result.replace(result.extents(), sporos::detail::shared_levels(pattern), values);
    return true;
  }
};

/// M(i, r) = T(i, k, l, ...) * B(k, r) * C(l, r) * ..., T in coordinates, compressed fibers or CSR, for any
/// mode i of it; M and the factors row-major: mttkrp.hpp.
struct MttkrpStatement {
  static constexpr std::string_view name = "MTTKRP on the GPU";
  static constexpr bool is_deterministic = false;

  /// A format whose nonzeros' coordinates can be found from their positions.
  template <class F>
  static constexpr bool reads() {
    if constexpr (F::is_blocked || F::is_dense || F::levels != F::order) {
      return false;
    } else {
      for (int k = 1; k < F::levels; ++k)
        if (F::properties[static_cast<std::size_t>(k)].full) return false;
      return true;
    }
  }
  template <class S>
  static constexpr sporos::detail::MttkrpPlaces places() {
    using Result = typename S::result_type;
    using Value = typename Result::value_type;
    using Factors = detail::ListOf<detail::factors_of<typename S::right_type>>;
    if constexpr (std::is_same_v<Value, accumulate_t<Value>> && !std::is_same_v<Value, bool>)
      return sporos::detail::MttkrpMatch<MttkrpStatement, Result, Factors>::places();
    else
      return {};
  }
  template <class S>
  static constexpr bool computes() {
    return places<S>().tensor >= 0;
  }
  template <class S>
  static constexpr bool matches = detail::matches<MttkrpStatement, S>();

  template <class S>
  static bool run(const S& statement) {
    static constexpr auto at = places<S>();
    const auto& tensor = detail::factor<at.tensor>(statement.right()).tensor();
    using Tensor = std::remove_cvref_t<decltype(tensor)>;
    using T = typename Tensor::value_type;
    const auto& result = statement.result().tensor();
    bounds_of(statement);
    if (detail::reads_result(statement)) return false;

    MttkrpArguments<typename Tensor::view_type, T> arguments{};
    arguments.tensor = tensor.view();
    arguments.columns = result.extent(1);
    arguments.result = result.values().data();
    std::int64_t positions = 1;
    tensor.for_each_level([&](auto level, const auto& storage) {
      constexpr int k = decltype(level)::value;
      arguments.sizes[k] = positions = storage.size(positions);
      if constexpr (k != at.result_level)
        arguments.factors[k] =
            detail::factor<at.factor_of_level[k]>(statement.right()).tensor().values().data();
    });
    const Kokkos::Cuda space;
    if (!statement.accumulates()) zero(space, arguments.result, result.nnz());
    mttkrp<at.result_level>(space, arguments);
    return true;
  }
};

/// A(i, j) = B(i, k) * C(k, j), all in CSR: spgemm.hpp.
struct SpgemmStatement {
  static constexpr std::string_view name = "SpGEMM on the GPU";
  static constexpr bool is_deterministic = false;

  template <class Result, class B, class C>
  static constexpr bool fits() {
    if constexpr (detail::is_csr<typename Result::format> && detail::is_csr<typename B::format> &&
                  detail::is_csr<typename C::format>)
      return B::names[0] == Result::names[0] && B::names[1] == C::names[0] &&
             C::names[1] == Result::names[1] && Result::names[0] != Result::names[1] &&
             !Result::names.contains(B::names[1]);
    else
      return false;
  }
  /// Which of two factors is the left matrix; -1 where the product is no such one.
  template <class S>
  static constexpr int left_place() {
    return detail::places_of_factors<SpgemmStatement, S, 2>()[0];
  }
  template <class S>
  static constexpr bool computes() {
    using Value = typename S::result_type::value_type;
    if constexpr (left_place<S>() >= 0)
      return std::is_same_v<detail::compute_of<S>, Value> && !std::is_same_v<Value, bool>;
    else
      return false;
  }
  template <class S>
  static constexpr bool matches = detail::matches<SpgemmStatement, S>();

  template <class S>
  static bool run(const S& statement) {
    constexpr int place = left_place<S>();
    bounds_of(statement);
    const auto b = detail::csr_view(detail::factor<place>(statement.right()).tensor());
    const auto c = detail::csr_view(detail::factor<1 - place>(statement.right()).tensor());
    const auto& result = statement.result().tensor();
    using New = detail::NewCsr<std::remove_cvref_t<decltype(result)>>;
    New made(result.extents());
    const Kokkos::Cuda space;
    Spgemm<detail::compute_of<S>, std::remove_const_t<decltype(b)>, std::remove_const_t<decltype(c)>,
           typename New::View>
        product(space, b, c, shared_workspace<SpgemmWorkspace>());
    const std::int64_t nonzeros = product.count(made.positions());
    product.fill(made.make_room(nonzeros));
    made.put_into(result);
    space.fence("sporos::spgemm");
    return true;
  }
};

/// A(i, j) = ± b * B(i, j) ± c * C(i, j) with scalars b and c or without, all in CSR: add.hpp.
struct AddStatement {
  static constexpr std::string_view name = "the sparse sum on the GPU";
  static constexpr bool is_deterministic = true;

  /// A term of the sum: what it is an access of, and its coefficient.
  template <class E>
  struct Term {
    using access = void;
  };
  template <class TensorType, char... Names>
  struct Term<Access<TensorType, Names...>> {
    using access = Access<TensorType, Names...>;
    static const access& of(const access& e) { return e; }
    template <class Compute>
    static Compute coefficient(const access&) {
      return Compute(1);
    }
  };
  template <class E>
    requires(!std::is_void_v<typename Term<E>::access>)
  struct Term<Negation<E>> {
    using access = typename Term<E>::access;
    static const access& of(const Negation<E>& e) { return Term<E>::of(e.operand); }
    template <class Compute>
    static Compute coefficient(const Negation<E>& e) {
      return -Term<E>::template coefficient<Compute>(e.operand);
    }
  };
  template <class E, class T>
    requires(!std::is_void_v<typename Term<E>::access>)
  struct Term<Product<E, Literal<T>>> {
    using access = typename Term<E>::access;
    static const access& of(const Product<E, Literal<T>>& e) { return Term<E>::of(e.left); }
    template <class Compute>
    static Compute coefficient(const Product<E, Literal<T>>& e) {
      return Term<E>::template coefficient<Compute>(e.left) * static_cast<Compute>(e.right.value);
    }
  };
  template <class T, class E>
    requires(!std::is_void_v<typename Term<E>::access>)
  struct Term<Product<Literal<T>, E>> {
    using access = typename Term<E>::access;
    static const access& of(const Product<Literal<T>, E>& e) { return Term<E>::of(e.right); }
    template <class Compute>
    static Compute coefficient(const Product<Literal<T>, E>& e) {
      return static_cast<Compute>(e.left.value) * Term<E>::template coefficient<Compute>(e.right);
    }
  };

  template <class S, class E>
  static constexpr bool is_term() {
    using Result = typename S::result_type;
    using A = typename Term<E>::access;
    if constexpr (std::is_void_v<A>)
      return false;
    else
      return detail::is_csr<typename A::format> && A::names == Result::names && A::names[0] != A::names[1];
  }
  template <class S, class L, class R>
  static constexpr bool is_sum_of_two(const Sum<L, R>*) {
    return is_term<S, L>() && is_term<S, R>();
  }
  template <class S>
  static constexpr bool is_sum_of_two(const void*) {
    return false;
  }
  template <class S>
  static constexpr bool computes() {
    using Result = typename S::result_type;
    if constexpr (detail::is_csr<typename Result::format> &&
                  !std::is_same_v<typename Result::value_type, bool>)
      return is_sum_of_two<S>(static_cast<const typename S::right_type*>(nullptr));
    else
      return false;
  }
  template <class S>
  static constexpr bool matches = detail::matches<AddStatement, S>();

  template <class S>
  static bool run(const S& statement) {
    using Left = std::remove_cvref_t<decltype(statement.right().left)>;
    using Right = std::remove_cvref_t<decltype(statement.right().right)>;
    using Compute = detail::compute_of<S>;
    bounds_of(statement);
    const auto b = detail::csr_view(Term<Left>::of(statement.right().left).tensor());
    const auto c = detail::csr_view(Term<Right>::of(statement.right().right).tensor());
    const auto& result = statement.result().tensor();
    using New = detail::NewCsr<std::remove_cvref_t<decltype(result)>>;
    New made(result.extents());
    const Kokkos::Cuda space;
    SparseSum<Compute, std::remove_const_t<decltype(b)>, std::remove_const_t<decltype(c)>, typename New::View>
        sum(space, b, c, shared_workspace());
    const std::int64_t nonzeros = sum.count(made.positions());
    sum.fill(made.make_room(nonzeros), Term<Left>::template coefficient<Compute>(statement.right().left),
             Term<Right>::template coefficient<Compute>(statement.right().right));
    made.put_into(result);
    space.fence("sporos::add");
    return true;
  }
};

}  // namespace sporos::cuda
