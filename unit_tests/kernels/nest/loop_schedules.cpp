// SPDX-License-Identifier: Apache-2.0
/// @file loop_schedules.cpp
/// Statements whose loops are split, fused and run over positions, against the oracle.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>
#include <string>

#include "../loop_parts.hpp"
#include "../statements.hpp"

namespace sporos::test::schedules {
namespace {

using namespace sporos::indices;
using namespace sporos::test::loop_parts;

struct Product : Notation<"ij", "ik", "kj"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(i, k) * C(k, j));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C, auto i, auto j) {
    return sum(n['k'], [&](auto k) { return B(i, k) * C(k, j); });
  }
};
/// b(i) lacks the variable that is summed over: it is added once, however the loops are cut.
struct Residual : Notation<"i", "i", "ij", "j"> {
  static auto write(const auto& y, const auto& b, const auto& A, const auto& x) {
    return assign(y(i), b(i) - A(i, j) * x(j));
  }
  static auto element(const Sizes& n, const auto& b, const auto& A, const auto& x, auto i) {
    return b(i) - sum(n['j'], [&](auto j) { return A(i, j) * x(j); });
  }
};
/// D(i, j) lacks k, which may be fused with variables inside its loop.
struct AddedProduct : Notation<"ij", "ik", "kj", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C, const auto& D) {
    return assign(A(i, j), B(i, k) * C(k, j) + D(i, j));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C, const auto& D, auto i, auto j) {
    return sum(n['k'], [&](auto k) { return B(i, k) * C(k, j); }) + D(i, j);
  }
};
/// The same where the term lacks the last of three fused variables, or the last two.
struct AddedSums : Notation<"i", "ikl", "ik", "i"> {
  static auto write(const auto& y, const auto& T, const auto& M, const auto& b) {
    return assign(y(i), T(i, k, l) + M(i, k) + b(i));
  }
  static auto element(const Sizes& n, const auto& T, const auto& M, const auto& b, auto i) {
    return b(i) +
           sum(n['k'], [&](auto k) { return M(i, k) + sum(n['l'], [&](auto l) { return T(i, k, l); }); });
  }
};
struct Scaled : Notation<"ij", "ij", "j"> {
  static auto write(const auto& A, const auto& B, const auto& x) { return assign(A(i, j), B(i, j) * x(j)); }
  static auto element(const Sizes&, const auto& B, const auto& x, auto i, auto j) { return B(i, j) * x(j); }
};
struct Added : Notation<"ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(i, j) + C(i, j));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return B(i, j) + C(i, j);
  }
};
struct Total : Notation<"", "ij", "i"> {
  static auto write(const auto& s, const auto& B, const auto& x) { return assign(s(), B(i, j) + x(i)); }
  static auto element(const Sizes& n, const auto& B, const auto& x) {
    return sum(n['i'], [&](auto i) { return x(i) + sum(n['j'], [&](auto j) { return B(i, j); }); });
  }
};
struct Mttkrp : Notation<"ij", "ikl", "kj", "lj"> {
  static auto write(const auto& A, const auto& T, const auto& C, const auto& D) {
    return assign(A(i, j), T(i, k, l) * C(k, j) * D(l, j));
  }
  static auto element(const Sizes& n, const auto& T, const auto& C, const auto& D, auto i, auto j) {
    return sum(n['k'],
               [&](auto k) { return sum(n['l'], [&](auto l) { return T(i, k, l) * C(k, j) * D(l, j); }); });
  }
};

/// Runs a statement over tensors of the given formats with schedule(statement, operands...), for every case
/// of extents and fillings, and compares the result with the oracle's.
template <class S, class Space, class Result, class... Operands, class Schedule>
void check(const Schedule& schedule) {
  std::uint64_t seed = 1;
  for (const Case& c : cases({S::variables.names, static_cast<std::size_t>(S::variables.size)})) {
    seed += 100;
    [&]<std::size_t... At>(std::index_sequence<At...>) {
      const auto on_host =
          std::tuple(random_tensor<Operands>(c.sizes, S::operands[At], c.density, c.skewed, seed + At)...);
      const auto operands = std::tuple(std::get<At>(on_host).template move_to<Space>()...);
      const auto result =
          random_tensor<Result>(c.sizes, S::result, 0.5, false, seed + 50).template move_to<Space>();
      const auto statement = schedule(S::write(result, std::get<At>(operands)...), std::get<At>(operands)...);
      const auto expected = expected_terms<S>(c.sizes, read(std::get<At>(on_host)).terms...);
      SCOPED_TRACE(c.name + ", " + Result::str() + "\n" + explain(statement));
      statement.run();
      EXPECT_EQ(difference(result.template move_to<Host>(), expected), "");
      // Elsewhere threads write to separate values, and the statement is deterministic as it is.
      constexpr bool adds_up = !sporos::detail::NestRun<std::remove_const_t<decltype(statement)>>::disjoint;
      if constexpr (adds_up && !std::is_same_v<Result, Scalar>) {
        statement.deterministic().run();
        EXPECT_EQ(difference(result.template move_to<Host>(), expected), "") << "deterministic";
      }
      auto again = plan(statement);
      again.run();
      again.run();
      EXPECT_EQ(difference(result.template move_to<Host>(), expected), "") << "plan";
    }(std::index_sequence_for<Operands...>{});
  }
}

/// Every schedule of a matrix product, as far as the formats admit it.
template <class Space, class A, class B, class C>
void check_product() {
  const auto run = [](const auto& schedule) { check<Product, Space, A, B, C>(schedule); };
  run([](const auto& s, const auto&...) { return s.reorder(i, k, j).split(i, i0, i1, 4); });
  run([](const auto& s, const auto&...) {
    return s.reorder(i, k, j).split(k, k0, k1, 3).reorder(k0, i, k1, j);
  });
  run([](const auto& s, const auto&...) {
    return s.reorder(i, k, j).split(j, j0, j1, 5).reorder(j0, i, k, j1).parallelize(j0);
  });
  run([](const auto& s, const auto&...) {
    return s.reorder(i, k, j)
        .split(i, i0, i1, 3)
        .split(j, j0, j1, 4)
        .split(k, k0, k1, 2)
        .reorder(i0, j0, k0, i1, k1, j1);
  });
  run([](const auto& s, const auto&...) {
    return s.reorder(i, k, j).fuse(i, k, f).split(f, f0, f1, 7).parallelize(f0);
  });
  run([](const auto& s, const auto& b, const auto&) {
    return s.reorder(i, k, j).fuse(i, k, f).pos(f, fp, b(i, k)).split(fp, f0, f1, 4).reorder(f0, f1, j);
  });
  run([](const auto& s, const auto& b, const auto&) {
    return s.reorder(i, k, j)
        .fuse(i, k, f)
        .pos(f, fp, b(i, k))
        .split(fp, f0, f1, 3)
        .reorder(f0, f1, j)
        .parallelize(f0);
  });
  run([](const auto& s, const auto& b, const auto&) {
    return s.reorder(i, k, j).fuse(i, k, f).pos(f, fp, b(i, k)).parallelize(fp);
  });
  run([](const auto& s, const auto& b, const auto&) {
    return s.reorder(i, k, j).pos(k, k0, b(i, k)).split(k0, f0, f1, 2).reorder(i, f0, f1, j);
  });
  run([](const auto& s, const auto& b, const auto&) {  // strips of strips
    return s.reorder(i, k, j)
        .fuse(i, k, f)
        .pos(f, fp, b(i, k))
        .split(fp, f0, f1, 6)
        .split(f1, f10, f11, 2)
        .reorder(f0, f10, f11, j);
  });
}

TEST(Schedules, OfProductsIntoDenseMatrices) {
  check_product<Serial, DenseMatrix<>, CSR<>, CSR<>>();
  check_product<OpenMP, DenseMatrix<>, DCSR<>, DenseMatrix<>>();
}
TEST(Schedules, OfProductsIntoSparseMatrices) {
  check_product<Serial, CSR<>, COO<2>, CSR<>>();
  check_product<OpenMP, COO<2>, CSR<>, CSR<>>();
  check_product<OpenMP, CSC<>, CSR<>, DCSR<>>();
}

template <class Space, class A>
void check_residual() {
  const auto run = [](const auto& schedule) {
    check<Residual, Space, DenseVector, DenseVector, A, DenseVector>(schedule);
  };
  run([](const auto& s, const auto&...) { return s.split(j, j0, j1, 3); });
  run([](const auto& s, const auto&...) { return s.split(j, j0, j1, 3).reorder(j0, i, j1); });
  run([](const auto& s, const auto&...) { return s.split(j, j0, j1, 3).reorder(j0, i, j1).parallelize(j0); });
  run([](const auto& s, const auto&...) { return s.fuse(i, j, f).split(f, f0, f1, 4).parallelize(f0); });
  run([](const auto& s, const auto&, const auto& a, const auto&) {
    return s.fuse(i, j, f).pos(f, fp, a(i, j)).split(fp, f0, f1, 3).parallelize(f0);
  });
  run([](const auto& s, const auto&...) {
    return s.split(i, i0, i1, 4).split(i0, f0, f1, 2).parallelize(f0);
  });
}
TEST(Schedules, AddATermWithoutTheSummedVariableOnce) {
  check_residual<Serial, CSR<>>();
  check_residual<OpenMP, CSR<>>();
  check_residual<OpenMP, DenseMatrix<>>();
  check_residual<OpenMP, COO<2>>();
}

template <class Space, class A, class T>
void check_fused_terms() {
  const auto product = [](const auto& schedule) {
    check<AddedProduct, Space, A, CSR<>, DenseMatrix<>, DenseMatrix<>>(schedule);
  };
  const auto sums = [](const auto& schedule) {
    check<AddedSums, Space, DenseVector, T, DenseMatrix<>, DenseVector>(schedule);
  };
  for (const std::int64_t size : {1, 2, 5, 7, 1000}) {
    product([=](const auto& s, const auto&...) {
      return s.reorder(i, k, j).fuse(k, j, f).split(f, f0, f1, size);
    });
    product([=](const auto& s, const auto&...) {
      return s.reorder(i, k, j).fuse(i, k, f).fuse(f, j, fp).split(fp, f0, f1, size).parallelize(f0);
    });
    sums([=](const auto& s, const auto&...) {
      return s.reorder(i, k, l).fuse(i, k, f).fuse(f, l, f10).split(f10, f0, f1, size).parallelize(f0);
    });
    sums([=](const auto& s, const auto& t, const auto&...) {
      return s.reorder(i, k, l).fuse(k, l, f).pos(f, fp, t(i, k, l)).split(fp, f0, f1, size);
    });
  }
}
TEST(Schedules, AddTermsWithoutSomeOfTheFusedVariablesOnce) {
  check_fused_terms<Serial, DenseMatrix<>, CSF<3>>();
  check_fused_terms<OpenMP, DenseMatrix<>, DenseTensor<3>>();
}

TEST(Schedules, RunOverHugeExtentsWhereStripsChangeNothing) {
  constexpr std::int64_t n = std::int64_t{1} << 40;
  Entries<double, 2> entries({n, n}, 3);
  entries.set(0, {5, n - 1}, 2);
  entries.set(1, {n - 2, 3}, 3);
  entries.set(2, {n - 2, 4}, 4);
  using Wide = DCSR<std::int64_t, std::int64_t>;
  const auto B = assemble<Wide>(entries);
  const Tensor<double, Wide> A({n, n});
  assign(A(i, j), 2.0 * B(i, j)).split(i, i0, i1, 4).split(j, j0, j1, 2).parallelize(i0).run();
  EXPECT_EQ(A.nnz(), 3);
  assign(A(i, j), 2.0 * B(i, j)).fuse(i, j, f).pos(f, fp, B(i, j)).split(fp, f0, f1, 2).run();
  EXPECT_EQ(A.nnz(), 3);
  EXPECT_EQ(at(A, {n - 2, 4}), 8);
  EXPECT_THROW(assign(A(i, j), 2.0 * B(i, j)).fuse(i, j, f).split(f, f0, f1, 2).run(), ScheduleError);
}

TEST(Schedules, OfStatementsThatAddToTheirResult) {
  const auto A = random_tensor<CSR<>>(Sizes("ij", 14), "ij", 0.4, true, 3);
  const auto x = random_tensor<DenseVector>(Sizes("j", 14), "j", 0.9, false, 4);
  const auto y = random_tensor<DenseVector>(Sizes("i", 14), "i", 0.9, false, 5);
  const auto expected = y.clone();
  expected(i) += A(i, j) * x(j);
  assign(y(i), A(i, j) * x(j))
      .fuse(i, j, f)
      .pos(f, fp, A(i, j))
      .split(fp, f0, f1, 3)
      .parallelize(f0)
      .accumulate()
      .run();
  for (std::size_t at = 0; at < 14; ++at) EXPECT_EQ(y.values()(at), expected.values()(at));
}

template <class Space, class A>
void check_elementwise() {
  const auto run = [](const auto& schedule) {
    check<Scaled, Space, A, CSR<>, DenseVector>(schedule);
    check<Added, Space, A, CSR<>, CSR<>>(schedule);
  };
  run([](const auto& s, const auto&...) { return s.split(i, i0, i1, 4); });
  run([](const auto& s, const auto&...) { return s.split(j, j0, j1, 4).reorder(j0, i, j1); });
  run([](const auto& s, const auto&...) { return s.split(j, j0, j1, 4); });
  run([](const auto& s, const auto&...) {
    return s.split(i, i0, i1, 2).split(j, j0, j1, 4).reorder(i0, j0, i1, j1);
  });
  run([](const auto& s, const auto& b, const auto&) {
    return s.fuse(i, j, f).pos(f, fp, b(i, j)).split(fp, f0, f1, 5).parallelize(f0);
  });
  run([](const auto& s, const auto& b, const auto&) { return s.pos(j, fp, b(i, j)).split(fp, f0, f1, 2); });
}
TEST(Schedules, OfElementwiseStatements) {
  check_elementwise<Serial, CSR<>>();
  check_elementwise<OpenMP, DCSR<>>();
  check_elementwise<OpenMP, DenseMatrix<>>();
}

TEST(Schedules, OfSumsOverEverything) {
  const auto run = [](const auto& schedule) {
    check<Total, Serial, Scalar, CSR<>, DenseVector>(schedule);
    check<Total, OpenMP, Scalar, DCSR<>, DenseVector>(schedule);
  };
  run([](const auto& s, const auto&...) { return s.split(i, i0, i1, 4); });
  run([](const auto& s, const auto&...) { return s.split(j, j0, j1, 4); });
  run([](const auto& s, const auto& b, const auto&) {
    return s.fuse(i, j, f).pos(f, fp, b(i, j)).split(fp, f0, f1, 5).parallelize(f0);
  });
}

TEST(Schedules, OfTensorsOfOrderThree) {
  const auto run = [](const auto& schedule) {
    check<Mttkrp, OpenMP, DenseMatrix<>, CSF<3>, DenseMatrix<>, DenseMatrix<>>(schedule);
    check<Mttkrp, OpenMP, DCSR<>, CSF<3>, CSR<>, CSR<>>(schedule);
    check<Mttkrp, Serial, CSR<>, COO<3>, CSR<>, DenseMatrix<>>(schedule);
  };
  run([](const auto& s, const auto& t, const auto&...) {
    return s.reorder(i, k, l, j)
        .fuse(i, k, f)
        .fuse(f, l, f10)
        .pos(f10, fp, t(i, k, l))
        .split(fp, f0, f1, 4)
        .parallelize(f0);
  });
  run([](const auto& s, const auto& t, const auto&...) {
    return s.reorder(i, k, l, j).fuse(k, l, f).pos(f, fp, t(i, k, l)).split(fp, f0, f1, 3);
  });
  run([](const auto& s, const auto&...) {
    return s.reorder(i, k, l, j).split(j, j0, j1, 2).split(l, k0, k1, 2).reorder(i, k, k0, k1, j0, j1);
  });
}

TEST(Schedules, RefuseStripsOfNothing) {
  const Tensor<double, CSR<>> A({4, 4}), B({4, 4});
  EXPECT_THROW(assign(A(i, j), B(i, j)).split(i, i0, i1, 0), ScheduleError);
  EXPECT_THROW(assign(A(i, j), B(i, j)).split(i, i0, i1, -3), ScheduleError);
}

TEST(Schedules, AreExplained) {
  const Tensor<double, CSC<>> A({9, 8});
  const Tensor<double, CSR<>> B({9, 7}), C({7, 8});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j))
                             .reorder(i, k, j)
                             .fuse(i, k, f)
                             .pos(f, fp, B(i, k))
                             .split(fp, f0, f1, 4)
                             .reorder(f0, f1, j);
  const std::string out = explain(statement);
  EXPECT_NE(out.find("for u in strips of 4 positions of B over i, k"), std::string::npos) << out;
  EXPECT_NE(out.find("for k in B in u"), std::string::npos) << out;
}

}  // namespace
}  // namespace sporos::test::schedules
