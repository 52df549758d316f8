// SPDX-License-Identifier: Apache-2.0
/// @file cusparselt.cpp
/// 2:4 products by cuSPARSELt against sums in double on the host: values, layouts, shapes, epilogues; what is
/// declined; plans on streams, in graphs and within their estimates.
#ifdef SPOROS_HAVE_CUSPARSELT

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <sporos/core/peak_memory.hpp>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../dense_products.hpp"
#include "../estimates.hpp"
#include "../inputs.hpp"
#include "../streams.hpp"
#include "products.hpp"

namespace sporos::test::cusparselt {
namespace {

using gpu::TwoFourByCusparselt;
using sporos::indices::i;
using sporos::indices::j;
using sporos::indices::k;

/// A statement as cuSPARSELt computes it.
template <class S>
auto by_cusparselt(const S& statement) {
  return statement.with_constant_operands().template use<TwoFourByCusparselt>();
}

/// What is said to a plan of a statement that is declined.
template <class S>
std::string reason(const S& statement) {
  try {
    (void)plan(statement.template use<TwoFourByCusparselt>());
  } catch (const ScheduleError& error) {
    return error.what();
  }
  return {};
}

/// A product as a plan.
template <class Value, class F, bool InnerIsFirst, bool AIsLeft>
void expect_planned_product(const Extents<3>& shape, bool accumulates = false) {
  expect_product_run_by<Value, Value, F, InnerIsFirst, AIsLeft>(
      [](const auto& statement) { plan(by_cusparselt(statement)).run(); }, shape, accumulates);
}

/// The least that it takes, and tails of its tiles, whatever their size.
template <class Value, class F, bool InnerIsFirst, bool AIsLeft>
void expect_planned_products() {
  for (const Extents<3>& shape : {Extents<3>{16, 8, 16},
                                  {16, 264, 48},
                                  {48, 24, 80},
                                  {128, 64, 128},
                                  {272, 136, 528},
                                  {1040, 72, 2064}})
    expect_planned_product<Value, F, InnerIsFirst, AIsLeft>(shape);
  expect_planned_product<Value, F, InnerIsFirst, AIsLeft>({144, 264, 304}, true);
}

TEST(CudaCusparselt, SparseTimesDense) {
  expect_planned_products<half, DenseMatrix<RowMajor>, true, true>();
  expect_planned_products<half, DenseMatrix<ColumnMajor>, true, true>();
}
TEST(CudaCusparselt, LayersOfANetwork) {
  expect_planned_products<half, DenseMatrix<RowMajor>, false, false>();
  expect_planned_products<bfloat16, DenseMatrix<RowMajor>, false, false>();
}
TEST(CudaCusparselt, Transposed) {
  expect_planned_products<half, DenseMatrix<RowMajor>, true, false>();
  expect_planned_products<bfloat16, DenseMatrix<ColumnMajor>, false, true>();
}

/// Of which sums in float are exact.
template <class Value, class F>
Tensor<Value, F> small_integers(const Extents<F::order>& extents, unsigned seed) {
  std::mt19937 draw(seed);
  std::uniform_int_distribution<int> number(-2, 2);
  Tensor<Value, F> out(extents);
  for (std::int64_t at = 0; at < out.nnz(); ++at) out.values()(at) = static_cast<Value>(1.0f * number(draw));
  return out;
}

/// Y(i, j) = f(X(i, k) W(j, k), b(j)), or Z(j, i) for the same.
template <class Value>
struct Layer {
  explicit Layer(const Extents<3>& shape)
      : X(small_integers<Value, DenseMatrix<>>({shape[0], shape[2]}, 1).template copy_to<Cuda>()),
        W(prune<TwoFour>(small_integers<Value, DenseMatrix<>>({shape[1], shape[2]}, 2))
              .template copy_to<Cuda>()),
        b(small_integers<Value, DenseVector>({shape[1]}, 3).template copy_to<Cuda>()),
        Y(small_integers<Value, DenseMatrix<>>({shape[0], shape[1]}, 4).template copy_to<Cuda>()),
        Z({shape[1], shape[0]}) {}

  /// Compares Y, or what Z is the transpose of, with f(sum, bias, what Y was before), computed in double.
  template <class T, class F>
  void expect(const char* what, const T& result, const Tensor<Value, DenseMatrix<>>& before,
              const F& f) const {
    SCOPED_TRACE(what);
    const auto x = convert<DenseMatrix<>, double>(X.template copy_to<Host>());
    const auto w = convert<DenseMatrix<>, double>(W.template copy_to<Host>());
    const auto bias = b.template copy_to<Host>();
    const std::int64_t m = x.extent(0), n = w.extent(0), inner = x.extent(1);
    const auto number = [](Value value) { return static_cast<double>(static_cast<float>(value)); };
    std::int64_t wrong = 0;
    for (std::int64_t row = 0; row < m; ++row)
      for (std::int64_t column = 0; column < n; ++column) {
        double sum = 0;
        for (std::int64_t p = 0; p < inner; ++p)
          sum += x.values()(row * inner + p) * w.values()(column * inner + p);
        const auto exact = static_cast<float>(
            f(sum, number(bias.values()(column)), number(before.values()(row * n + column))));
        wrong += number(result.values()(row * n + column)) != number(static_cast<Value>(exact));
      }
    EXPECT_EQ(wrong, 0);
  }

  Tensor<Value, DenseMatrix<>, Cuda> X;
  Tensor<Value, TwoFour, Cuda> W;
  Tensor<Value, DenseVector, Cuda> b;
  Tensor<Value, DenseMatrix<>, Cuda> Y;
  Tensor<Value, DenseMatrix<>, Cuda> Z;
};

double rectified(double x) { return x > 0 ? x : 0; }

template <class Value>
void expect_layers(const Extents<3>& shape) {
  SCOPED_TRACE(text(value_name<Value>(), ", ", to_string(shape)));
  const Layer<Value> l(shape);
  const auto& [X, W, b, Y, Z] = l;
  const auto expect = [&](const char* what, const auto& statement, const auto& f) {
    const auto before = l.Y.template copy_to<Host>();
    plan(by_cusparselt(statement)).run();
    l.expect(what, l.Y.template copy_to<Host>(), before, f);
  };
  expect("bias", assign(Y(i, j), X(i, k) * W(j, k) + b(j)), [](double s, double c, double) { return s + c; });
  expect("scale", assign(Y(i, j), 0.5 * X(i, k) * W(j, k)), [](double s, double, double) { return s / 2; });
  expect("relu", assign(Y(i, j), relu(X(i, k) * W(j, k))),
         [](double s, double, double) { return rectified(s); });
  expect("bias and relu", assign(Y(i, j), relu(b(j) + X(i, k) * W(j, k))),
         [](double s, double c, double) { return rectified(s + c); });
  expect("all", assign(Y(i, j), relu(2 * X(i, k) * W(j, k) + b(j))),
         [](double s, double c, double) { return rectified(2 * s + c); });
  expect("added", assign(Y(i, j), 2 * X(i, k) * W(j, k) + b(j)).accumulate(),
         [](double s, double c, double before) { return 2 * s + c + before; });

  // Rows of the sparse matrix are those of the result.
  const auto before = l.Y.template copy_to<Host>();
  plan(by_cusparselt(assign(Z(i, j), relu(W(i, k) * X(j, k) + b(i))))).run();
  l.expect("rows", transpose(l.Z.template copy_to<Host>()), before,
           [](double s, double c, double) { return rectified(s + c); });
}

TEST(CudaCusparselt, Epilogues) {
  expect_layers<half>({72, 144, 80});
  expect_layers<half>({264, 272, 320});
  expect_layers<bfloat16>({72, 144, 80});
}

TEST(CudaCusparselt, ReluKeepsNaN) {
  const auto W = prune<TwoFour>(small_integers<half, DenseMatrix<>>({32, 64}, 1)).copy_to<Cuda>();
  const Tensor<half, DenseMatrix<>, Cuda> X({16, 64}), Y({16, 32});
  Kokkos::deep_copy(X.values(), half(std::numeric_limits<float>::quiet_NaN()));
  plan(by_cusparselt(assign(Y(i, j), relu(X(i, k) * W(j, k))))).run();
  const auto result = Y.copy_to<Host>();
  for (std::int64_t at = 0; at < result.nnz(); ++at) {
    const float value = result.values()(at);
    ASSERT_NE(value, value) << at;
  }
}

TEST(CudaCusparselt, DeclinesShapesThatItDoesNotTake) {
  using testing::HasSubstr;
  const auto expect_declined = [](const Extents<3>& shape) {
    const Tensor<half, TwoFour, Cuda> A({shape[0], shape[2]});
    const Tensor<half, DenseMatrix<>, Cuda> B({shape[2], shape[1]}), C({shape[0], shape[1]});
    EXPECT_THAT(reason(assign(C(i, j), A(i, k) * B(k, j)).with_constant_operands()),
                HasSubstr("multiples of 16"))
        << to_string(shape);
  };
  for (const auto& shape : {Extents<3>{24, 16, 32},
                            {32, 12, 32},
                            {32, 16, 40},
                            {32, 16, 33},
                            {0, 8, 16},
                            {16, 0, 16},
                            {16, 8, 0}})
    expect_declined(shape);
}

TEST(CudaCusparselt, DeclinesOtherStatements) {
  using testing::HasSubstr;
  const Tensor<half, TwoFour, Cuda> W({32, 64});
  const Tensor<half, DenseMatrix<>, Cuda> X({16, 64}), Y({16, 32});
  const Tensor<half, DenseVector, Cuda> of_columns({32}), of_rows({16});
  const Tensor<float, DenseVector, Cuda> wide({32});
  const Tensor<float, DenseMatrix<>, Cuda> wide_Y({16, 32});
  const auto product = assign(Y(i, j), X(i, k) * W(j, k));
  // Without constant operands, and run once.
  EXPECT_THAT(reason(product), HasSubstr(".with_constant_operands()"));
  EXPECT_THROW(by_cusparselt(product).run(), ScheduleError);
  // Other types, biases along the other mode, other functions, two of them.
  const auto is_other = HasSubstr("it computes plans of");
  EXPECT_THAT(reason(assign(wide_Y(i, j), X(i, k) * W(j, k)).with_constant_operands()), is_other);
  EXPECT_THAT(reason(assign(Y(i, j), X(i, k) * W(j, k) + of_rows(i)).with_constant_operands()), is_other);
  EXPECT_THAT(reason(assign(Y(i, j), X(i, k) * W(j, k) + wide(j)).with_constant_operands()), is_other);
  EXPECT_THAT(reason(assign(Y(i, j), X(i, k) * W(j, k) * of_columns(j)).with_constant_operands()), is_other);
  EXPECT_THAT(reason(assign(Y(i, j), gelu(X(i, k) * W(j, k))).with_constant_operands()), is_other);
  EXPECT_THAT(reason(assign(Y(i, j), relu(relu(X(i, k) * W(j, k)))).with_constant_operands()), is_other);
  EXPECT_THAT(reason(assign(Y(i, j), relu(X(i, k) * W(j, k)) + of_columns(j)).with_constant_operands()),
              is_other);
  EXPECT_EQ(reason(assign(Y(i, j), X(i, k) * W(j, k) + of_columns(j)).with_constant_operands()), "");
  // What relu would be applied to as well.
  EXPECT_THAT(reason(assign(Y(i, j), relu(X(i, k) * W(j, k))).accumulate().with_constant_operands()),
              HasSubstr("before it applies relu"));
  // Arrays that begin elsewhere.
  const Array<half, gpu::Memory> array("array", 16 * 64 + 8);
  const Array<half, gpu::Memory> moved(array.data() + 1, 16 * 64);
  const auto moved_X = wrap<DenseMatrix<>, Cuda>(Extents<2>{16, 64}, moved);
  EXPECT_THAT(reason(assign(Y(i, j), moved_X(i, k) * W(j, k)).with_constant_operands()),
              HasSubstr("multiples of 16 bytes"));
}

TEST(CudaCusparselt, RunsWhereItIsAskedForOrNothingFasterIs) {
  const auto W = prune<TwoFour>(small_integers<half, DenseMatrix<>>({256, 512}, 1)).copy_to<Cuda>();
  const Tensor<half, DenseMatrix<>, Cuda> X({64, 512}), Y({64, 256});
  const auto statement = assign(Y(i, j), X(i, k) * W(j, k)).with_constant_operands();
  EXPECT_EQ(plan(statement.use<TwoFourByCusparselt>()).candidate(), TwoFourByCusparselt::name);
  std::string_view fastest = TwoFourByCusparselt::name;
  double least = sporos::detail::offer_of<TwoFourByCusparselt>(statement, Use::often).cost().again;
  const auto consider = [&]<class K>() {
    const auto offer = sporos::detail::offer_of<K>(statement, Use::often);
    if (!offer.takes() || offer.cost().again >= least) return;
    least = offer.cost().again;
    fastest = K::name;
  };
  consider.template operator()<gpu::TwoFourOnTensorCores>();
  consider.template operator()<gpu::TwoFourByWarps>();
  EXPECT_EQ(plan(statement).candidate(), fastest);
  std::ostringstream out;
  plan(statement.use<TwoFourByCusparselt>()).explain(out);
  EXPECT_THAT(out.str(), testing::HasSubstr("by cuSPARSELt's default algorithm"));
}

/// Operands of a layer of random numbers.
struct Operands {
  explicit Operands(const Extents<3>& shape)
      : X(random_dense<half, DenseMatrix<>>({shape[0], shape[2]}, 1).copy_to<Cuda>()),
        W(prune<TwoFour>(random_dense<half, DenseMatrix<>>({shape[1], shape[2]}, 2)).copy_to<Cuda>()),
        Y({shape[0], shape[1]}) {}

  auto statement() const { return by_cusparselt(assign(Y(i, j), X(i, k) * W(j, k))); }
  void poison() const { Kokkos::deep_copy(Y.values(), half(std::numeric_limits<float>::quiet_NaN())); }
  void change(unsigned seed) const {
    Kokkos::deep_copy(X.values(),
                      random_dense<half, DenseMatrix<>>(X.extents(), seed).copy_to<Cuda>().values());
  }
  /// What a plan on the default stream computes.
  Tensor<half, DenseMatrix<>> expected() const {
    poison();
    plan(statement()).run();
    return Y.copy_to<Host>();
  }

  Tensor<half, DenseMatrix<>, Cuda> X;
  Tensor<half, TwoFour, Cuda> W;
  Tensor<half, DenseMatrix<>, Cuda> Y;
};

TEST(CudaCusparselt, IsCapturedBeforeItHasRun) {
  for (const auto& shape : {Extents<3>{264, 272, 320}, {1024, 2048, 1024}}) {
    const Operands l(shape);
    const OwnStream stream;
    auto layer = plan(l.statement().on(stream.resources()));
    Kokkos::fence();
    l.poison();
    const Graph graph(stream, [&] { layer.run(); });
    graph.launch();
    const auto first = l.Y.copy_to<Host>();
    expect_equal_tensors(l.expected(), first);
    l.change(10);
    const auto second = l.expected();
    l.poison();
    graph.launch();
    expect_equal_tensors(second, l.Y);
  }
}

TEST(CudaCusparselt, PlansOnTwoStreams) {
  const Operands one({264, 272, 320}), other({136, 528, 160});
  const auto expected_of_one = one.expected(), expected_of_other = other.expected();
  const OwnStream first, second;
  auto layer = plan(one.statement().on(first.resources()));
  auto other_layer = plan(other.statement().on(second.resources()));
  one.poison();
  other.poison();
  Kokkos::fence();
  for (int run = 0; run < 20; ++run) {
    layer.run();
    other_layer.run();
  }
  first.wait();
  second.wait();
  expect_equal_tensors(expected_of_one, one.Y);
  expect_equal_tensors(expected_of_other, other.Y);
}

TEST(CudaCusparselt, ResultsAreTheSameFromRunToRun) {
  const Operands l({136, 272, 2048});
  const auto first = l.expected();
  auto layer = plan(l.statement());
  for (int run = 0; run < 5; ++run) {
    l.poison();
    layer.run();
    expect_equal_tensors(first, l.Y);
  }
}

TEST(CudaCusparselt, KeepsTheSparseMatrixAndReadsTheOthers) {
  const Operands l({64, 128, 256});
  const Tensor<half, DenseVector, Cuda> b({128}), other({128});
  Kokkos::deep_copy(b.values(), half(0.0f));
  Kokkos::deep_copy(other.values(), half(1000.0f));
  const auto statement = by_cusparselt(assign(l.Y(i, j), l.X(i, k) * l.W(j, k) + b(j)));
  auto layer = plan(statement);
  layer.run();
  const auto before = l.Y.copy_to<Host>();
  l.change(7);
  layer.run();
  const auto changed = l.Y.copy_to<Host>();
  EXPECT_NE(static_cast<float>(before.values()(0)), static_cast<float>(changed.values()(0)));
  l.poison();
  plan(statement).run();
  expect_equal_tensors(changed, l.Y);
  Kokkos::deep_copy(l.W.values(), half(0.0f));
  layer.run();
  expect_equal_tensors(changed, l.Y);
  b.replace(b.extents(), b.levels(), other.values());  // another array
  layer.run();
  EXPECT_GT(static_cast<float>(l.Y.copy_to<Host>().values()(0)), 900);
}

TEST(CudaCusparselt, TheResultMayBeAnOperand) {
  const auto A = prune<TwoFour>(random_dense<half, DenseMatrix<>>({128, 128}, 5)).copy_to<Cuda>();
  const auto B = random_dense<half, DenseMatrix<>>({128, 128}, 6).copy_to<Cuda>();
  const Tensor<half, DenseMatrix<>, Cuda> C({128, 128});
  plan(by_cusparselt(assign(C(i, j), A(i, k) * B(k, j)))).run();
  plan(by_cusparselt(assign(B(i, j), A(i, k) * B(k, j)))).run();
  expect_equal_tensors(C.copy_to<Host>(), B);
}

TEST(CudaCusparselt, AllocatesNoMoreThanIsEstimatedAndNothingInARun) {
  for (const auto& shape : {Extents<3>{264, 272, 320}, {1024, 2048, 1024}}) {
    SCOPED_TRACE(to_string(shape));
    const Operands l(shape);
    plan(l.statement()).run();  // what Kokkos and the process keep from then on is no plan's
    const Resources<Cuda> fresh{Cuda()}, within{Cuda()}, less{Cuda()};
    std::int64_t most = 0, held = 0;
    const std::int64_t taken = memory_of([&] {
      auto layer = plan(l.statement().on(fresh));
      most = layer.estimate().workspace;
      held = layer.bytes();
      layer.run();
      layer.run();
    });
    EXPECT_LE(taken, most + uncounted);
    EXPECT_GE(taken, held);
    EXPECT_GE(held, shape[1] * shape[2]);  // half of the values, 2 bytes each
    EXPECT_NO_THROW(plan(l.statement().on(within.within(most))).run());
    EXPECT_THROW((void)plan(l.statement().on(less.within(held))), MemoryError);
    auto layer = plan(l.statement());
    for (int run = 0; run < 2; ++run) {
      const PeakMemory peak;
      layer.run();
      EXPECT_EQ(peak.bytes(), 0);
    }
  }
}

TEST(CudaCusparselt, ErrorsNameTheFunction) {
  const Cuda space;
  try {
    const gpu::CusparseltProduct<half> product(space, {32, 16, 33, true, true});
    FAIL() << "rows of 33 halfs are not aligned";
  } catch (const StateError& error) {
    EXPECT_THAT(std::string(error.what()), testing::HasSubstr("cuSPARSELt: cusparseLt"));
  }
}

}  // namespace
}  // namespace sporos::test::cusparselt

#endif
