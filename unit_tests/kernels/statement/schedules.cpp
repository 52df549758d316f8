// SPDX-License-Identifier: Apache-2.0
/// @file schedules.cpp
/// What a statement's schedule may ask for: a workspace, and the same bits for any number of threads.
#include <cstring>

#include "../typed.hpp"
#include "reference.hpp"

namespace sporos::test {
namespace {

const Sizes schedule_sizes("ijk", 70);

template <class Left, class Right>
bool same_bits(const Left& a, const Right& b) {
  return a.nnz() == b.nnz() && a.nnz() > 0 &&
         std::memcmp(a.values().data(), b.values().data(),
                     static_cast<std::size_t>(a.nnz()) * sizeof(typename Left::value_type)) == 0;
}

template <class F>
Tensor<double, F> reals(std::string_view modes, double density, std::uint64_t seed) {
  return tensor_with<double, F>(schedule_sizes, modes, density, seed, [](std::mt19937_64& draw) {
    return std::uniform_real_distribution<double>(-1, 1)(draw);
  });
}

TEST(AWorkspace, IsTheUsersChoice) {
  const auto B = small_tensor<double, CSR<>>(schedule_sizes, "ik", 0.1, 1);
  const auto C = small_tensor<double, CSR<>>(schedule_sizes, "kj", 0.1, 2);
  const Tensor<double, CSR<>> by_engine({70, 70}), in_dense({70, 70}), in_list({70, 70}), by_column({70, 70});
  const auto product = [&](const auto& A) { return assign(A(i, j), B(i, k) * C(k, j)); };
  product(by_engine).run();
  product(in_dense).workspace(dense_workspace).run();
  product(in_list).workspace(coordinate_workspace).run();
  const auto columns = convert<CSC<>>(B);
  assign(by_column(i, j), columns(i, k) * C(k, j)).workspace(coordinate_workspace).run();
  EXPECT_GT(by_engine.nnz(), 0);
  EXPECT_TRUE(test::same(table(by_engine), table(in_dense)));
  EXPECT_TRUE(test::same(table(by_engine), table(in_list)));
  EXPECT_TRUE(test::same(table(by_engine), table(by_column)));
}

TEST(AWorkspace, IsNamedByExplain) {
  const Tensor<double, CSR<>> A({70, 70}), B({70, 70}), C({70, 70});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j));
  EXPECT_TRUE(contains(explain(statement.workspace(dense_workspace)), "dense workspace of order 1 over j"));
  EXPECT_TRUE(contains(explain(statement.workspace(coordinate_workspace)), "coordinate workspace"));
}

TEST(AWorkspace, IsRefusedWhereThereIsNoMemoryForIt) {
  using Wide = CSR<std::int64_t, std::int64_t>;
  constexpr std::int64_t many = std::int64_t{1} << 40;
  const auto B = assemble<Wide>(Entries<double, 2>({2, 3}, {{{0, 1}, 2.0}, {{1, 2}, 3.0}}));
  const auto C = assemble<Wide>(Entries<double, 2>({3, many}, {{{1, 7}, 5.0}, {{2, many - 1}, 7.0}}));
  const Tensor<double, Wide> A({2, many});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j)).generic();
  EXPECT_TRUE(contains(message_of<MemoryError>([&] { statement.workspace(dense_workspace).run(); }),
                       "a dense workspace over 1099511627776 coordinates"));
  statement.workspace(coordinate_workspace).run();
  EXPECT_EQ(at(A, {1, many - 1}), 21.0);
}

TEST(ADeterministicStatement, HasTheSameBitsInSerialAndInParallel) {
  const auto A = reals<CSR<>>("ij", 0.3, 3);
  const auto x = reals<DenseVector>("i", 1, 4);
  // The rows are walked, the columns are added to: chunks of rows meet in the result.
  const Tensor<double, DenseVector, Serial> serial({70});
  const Tensor<double, DenseVector, OpenMP> parallel({70});
  assign(serial(j), A.move_to<Serial>()(i, j) * x.move_to<Serial>()(i)).deterministic().run();
  assign(parallel(j), A(i, j) * x(i)).deterministic().run();
  EXPECT_TRUE(same_bits(serial, parallel));

  const Tensor<double, Scalar, Serial> serial_sum;
  const Tensor<double, Scalar, OpenMP> parallel_sum;
  assign(serial_sum(), A.move_to<Serial>()(i, j)).deterministic().run();
  assign(parallel_sum(), A(i, j)).deterministic().run();
  EXPECT_TRUE(same_bits(serial_sum, parallel_sum));
}

TEST(ADeterministicStatement, IsRightAndSaysSo) {
  const auto A = small_tensor<double, CSR<>>(schedule_sizes, "ij", 0.3, 3);
  const auto x = small_tensor<double, DenseVector>(schedule_sizes, "i", 1, 4);
  const Tensor<double, DenseVector> y({70}), z({70});
  const auto statement = assign(y(j), A(i, j) * x(i)).deterministic();
  statement.run();
  z(j) = A(i, j) * x(i);
  EXPECT_TRUE(test::same(table(y), table(z)));
  EXPECT_TRUE(contains(explain(statement), "the same bits for any number of threads"));
}

}  // namespace
}  // namespace sporos::test
