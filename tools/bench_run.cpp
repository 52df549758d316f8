// SPDX-License-Identifier: Apache-2.0
/// @file bench_run.cpp
/// One function for each operation. Products with vectors and of sparse matrices are those of `spmv` and
/// `multiply`.
#include "bench_run.hpp"

#include <algorithm>
#include <array>
#include <sporos/core/index.hpp>
#include <sporos/core/statement.hpp>
#include <sporos/formats/convert.hpp>
#include <sporos/kernels/statement/plan.hpp>

#include "assembled.hpp"
#include "modes.hpp"
#include "product.hpp"
#include "spmv_run.hpp"
#include "statistics.hpp"

namespace sporos::tool {
namespace {

using DenseRows = Tensor<double, DenseMatrix<>>;

/// Values in (0, 1], which need not be random for their product to take its time.
template <class T>
T filled(T tensor) {
  for (std::size_t q = 0; q < tensor.values().extent(0); ++q)
    tensor.values()(q) = 1.0 / static_cast<double>(1 + q % 17);
  return tensor;
}

class Bench {
 public:
  Bench(const Entries<double, 2>& entries, const BenchPlan& plan)
      : entries_(entries), plan_(plan), A_(assembled<CSR<>>(entries)) {}

  Measurement spmv() const {
    const RealVector x = filled(RealVector({A_.extent(1)})), y({A_.extent(0)});
    const SpmvRun run = run_spmv(A_, x, y, 0, plan_.seconds);
    return {.statement = "y(i) = A(i, j) * x(j)",
            .kernel = run.kernel,
            .times = run.times,
            .operations = 2 * nnz(),
            .bytes = run.bytes};
  }

  Measurement spmm() const {
    using namespace sporos::indices;
    const DenseRows X = filled(DenseRows({A_.extent(1), plan_.columns})), Y({A_.extent(0), plan_.columns});
    auto product = sporos::plan(assign(Y(i, j), A_(i, k) * X(k, j)));
    return {.statement = "Y(i, j) = A(i, k) * X(k, j)",
            .kernel = std::string(product.candidate()),
            .times = repeated([&] { product.run(); }),
            .operations = 2 * nnz() * plan_.columns,
            .bytes = A_.bytes() + X.bytes() + Y.bytes()};
  }

  Measurement sddmm() const {
    using namespace sporos::indices;
    const DenseRows U = filled(DenseRows({A_.extent(0), plan_.columns})),
                    V = filled(DenseRows({A_.extent(1), plan_.columns}));
    const RealRows S({A_.extent(0), A_.extent(1)});
    auto product = sporos::plan(assign(S(i, j), A_(i, j) * U(i, k) * V(j, k)));
    Measurement out{.statement = "S(i, j) = A(i, j) * U(i, k) * V(j, k)",
                    .kernel = std::string(product.candidate()),
                    .times = repeated([&] { product.run(); }),
                    .operations = nnz() * (2 * plan_.columns + 1)};
    out.bytes = A_.bytes() + U.bytes() + V.bytes() + S.bytes();
    return out;
  }

  Measurement add() const {
    using namespace sporos::indices;
    const RealRows B = is_square() ? assembled<CSR<>>(transposed()) : A_;
    const RealRows C({A_.extent(0), A_.extent(1)});
    auto sum = sporos::plan(assign(C(i, j), A_(i, j) + B(i, j)));
    Measurement out{.statement = is_square() ? "C = A + transpose(A)" : "C = A + A",
                    .kernel = std::string(sum.candidate()),
                    .times = repeated([&] { sum.run(); })};
    out.bytes = A_.bytes() + B.bytes() + C.bytes();
    out.operations = static_cast<double>(A_.nnz() + B.nnz() - C.nnz());
    return out;
  }

  Measurement spgemm() const {
    Measurement out{.statement = is_square() ? "C = A * A" : "C = A * transpose(A)"};
    const Entries<double, 2> B = is_square() ? entries_ : std::get<Entries<double, 2>>(sorted_transpose());
    const std::int64_t products = count_products(entries_, B);
    if (products > most_products) {
      out.left_out = to_text(Cell(Count{products})) + " products of entries are too many";
      return out;
    }
    ProductPlan product_plan;
    product_plan.repeats = 3;
    const Product product = multiply(entries_, B, product_plan);
    out.times = product.times;
    out.operations = 2 * static_cast<double>(products);
    out.bytes = product.A.bytes + product.B.bytes + product.C.bytes;
    return out;
  }

  Measurement assemble() const {
    return {.statement = "entries -> CSR",
            .times = repeated([&] { assembled<CSR<>>(entries_); }),
            .bytes = A_.bytes()};
  }

  Measurement to_csc() const {
    return {
        .statement = "CSR -> CSC", .times = repeated([&] { convert<CSC<>>(A_); }), .bytes = 2 * A_.bytes()};
  }

 private:
  static constexpr std::int64_t most_products = std::int64_t{1} << 32;

  bool is_square() const { return A_.extent(0) == A_.extent(1); }
  double nnz() const { return static_cast<double>(A_.nnz()); }
  Entries<double, 2> transposed() const { return permuted(entries_, {1, 0}); }
  AnyEntries sorted_transpose() const { return merged(transposed(), Duplicates::sum, false); }

  template <class Body>
  Times repeated(const Body& body) const {
    return times_within(plan_.seconds, body);
  }

  const Entries<double, 2>& entries_;
  BenchPlan plan_;
  RealRows A_;
};

struct Operation {
  std::string_view name;
  Measurement (Bench::*measure)() const;
};
constexpr std::array operations = {
    Operation{"spmv", &Bench::spmv},     Operation{"spmm", &Bench::spmm},
    Operation{"sddmm", &Bench::sddmm},   Operation{"add", &Bench::add},
    Operation{"spgemm", &Bench::spgemm}, Operation{"assemble", &Bench::assemble},
    Operation{"to_csc", &Bench::to_csc}};

}  // namespace

std::vector<std::string> bench_operations() {
  std::vector<std::string> names;
  for (const Operation& operation : operations) names.emplace_back(operation.name);
  return names;
}

std::vector<Measurement> measure(const Entries<double, 2>& entries, const BenchPlan& plan) {
  const Bench bench(entries, plan);
  std::vector<Measurement> out;
  for (const Operation& operation : operations) {
    if (std::find(plan.operations.begin(), plan.operations.end(), operation.name) == plan.operations.end())
      continue;
    out.push_back((bench.*operation.measure)());
    out.back().operation = operation.name;
  }
  return out;
}

}  // namespace sporos::tool
