// SPDX-License-Identifier: Apache-2.0
/// @file workspaces.cpp
/// Sparse results that scatter over several variables: outer products of matrices, beside Eigen's product by
/// rows; products of tensors with sparse factors (SpMTTKRP) and matrices (SpTTM) into sparse results, beside
/// a dense result that is compressed afterwards. With several threads, each statement is run on one of them
/// as well, in the same rounds (`on one thread`).
///
///     perf_workspaces --threads 1 --json workspaces_1_thread.json MATRIX.mtx.gz...
///
/// With the sources of that paper's own code (SPOROS_SPARSE_WS_DIR) its outer products are measured beside.
///
/// The statements and tensors are those of Zhang, Hsu, Kjolstad, *Compilation of Modular and General Sparse
/// Workspaces* (PLDI 2024), section 7, as far as they can be generated. All results are compared.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "nips_like.hpp"
#include "peers.hpp"
#ifdef SPOROS_HAVE_SPARSE_WS
#include "peers/sparse_ws.hpp"
#endif

namespace sporos::perf {
namespace {

using namespace sporos::indices;

/// @throws StateError unless both tensors store the same coordinates, with about the same values
template <class T>
void expect_same(const std::string& who, const T& made, const T& expected) {
  const auto a = entries(made), b = entries(expected);
  bool same = a.size() == b.size();
  for (std::int64_t e = 0; same && e < a.size(); ++e) {
    const double x = a.values(static_cast<std::size_t>(e)), y = b.values(static_cast<std::size_t>(e));
    same = a.coordinate(e) == b.coordinate(e) && std::abs(x - y) <= 1e-10 * (1 + std::abs(y));
  }
  if (!same) throw StateError(text(who, " computes another result"));
}

/// An instance of the host's space that has one thread, whatever the program has.
const OpenMP& one_thread() {
  static const OpenMP instance(1);
  return instance;
}

/// Adds a statement that runs on one thread, if the program has several.
template <class Run>
void add_on_one_thread(std::vector<Contender>& contenders, const Run& run) {
  if (OpenMP().concurrency() > 1) contenders.emplace_back("on one thread", Role::variant, run);
}

#ifdef SPOROS_HAVE_SPARSE_WS
/// A matrix in CSR or CSC without the slices that store nothing, which is what that code takes.
template <class Matrix>
sparse_ws::Slices slices_of(const Matrix& in) {
  sparse_ws::Slices out;
  out.rows = static_cast<int>(in.extent(0));
  out.columns = static_cast<int>(in.extent(1));
  const auto level = in.template level<1>().view();
  out.positions = {0};
  for (std::int64_t slice = 0; out.positions.back() < in.nnz(); ++slice) {
    const auto end = static_cast<int>(level.positions[slice + 1]);
    if (end == out.positions.back()) continue;
    out.slices.push_back(static_cast<int>(slice));
    out.positions.push_back(end);
  }
  out.slice_positions = {0, static_cast<int>(out.slices.size())};
  for (std::int64_t q = 0; q < in.nnz(); ++q) {
    out.coordinates.push_back(static_cast<int>(level.coordinates[q]));
    out.values.push_back(static_cast<float>(in.values()[static_cast<std::size_t>(q)]));
  }
  return out;
}

/// Whether the product has the coordinates of `expected` and, in float, about its values.
bool is_right(const sparse_ws::Product& made, const Tensor<double, CSR<>>& expected) {
  const auto level = expected.level<1>().view();
  bool right = made.positions[static_cast<std::size_t>(expected.extent(0))] == expected.nnz();
  for (std::int64_t q = 0; right && q < expected.nnz(); ++q) {
    const auto at = static_cast<std::size_t>(q);
    const double value = expected.values()[at];
    right = made.coordinates[at] == level.coordinates[q] &&
            std::abs(static_cast<double>(made.values[at]) - value) <= 1e-3 * std::abs(value);
  }
  return right;
}

/// Adds the paper's policies to what computes B * C, and returns those that compute another result, which are
/// not measured.
template <class ByColumns, class ByRows>
json add_sparse_ws(std::vector<Contender>& contenders, const ByColumns& B, const ByRows& C,
                   const Tensor<double, CSR<>>& expected) {
  const auto b = std::make_shared<const sparse_ws::Slices>(slices_of(B));
  const auto c = std::make_shared<const sparse_ws::Slices>(slices_of(C));
  json wrong = json::array();
  const auto policy = [&](const std::string& name, sparse_ws::OuterProduct* product) {
    if (is_right(product(*b, *c), expected))
      contenders.emplace_back(name, Role::peer, [b, c, product] { return product(*b, *c); });
    else
      wrong.push_back(name);
  };
  policy("paper's coordinate", sparse_ws::coordinate);
  policy("paper's growing coordinate", sparse_ws::coordinate_growing);
  policy("paper's bucket", sparse_ws::bucket);
  policy("paper's hash", sparse_ws::hash);
  policy("paper's growing hash", sparse_ws::hash_growing);
  return wrong;
}
#endif

/// B * C with the loops over k outside.
void outer_product(Report& report, const std::string& name, const Rows& left, const Rows& right) {
  if (!report.wants(name)) return;
  const auto by_rows = left.matrix<>(3);
  const auto C = right.matrix<>(4);
  const auto B = convert<CSC<>>(by_rows);
  const auto make = [=](const auto& run) {
    return [=] {
      const Tensor<double, CSR<>> A({B.extent(0), C.extent(1)});
      run(A);
      return A;
    };
  };
  const auto ours = make([=](const auto& A) { A(i, j) = B(i, k) * C(k, j); });
  const auto rows = make([=](const auto& A) { A(i, j) = by_rows(i, k) * C(k, j); });
  const auto merged =
      make([=](const auto& A) { assign(A(i, j), B(i, k) * C(k, j)).template use<MergedNest>().run(); });
  std::vector<Contender> contenders{{"sporos", Role::ours, ours},
                                    {"insert-sort-merge", Role::variant, merged},
                                    {"by rows", Role::variant, rows}};
  const auto alone = make([=](const auto& A) { assign(A(i, j), B(i, k) * C(k, j)).on(one_thread()).run(); });
  add_on_one_thread(contenders, alone);
#ifdef SPOROS_HAVE_EIGEN
  using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;
  const auto b = left.matrix<double, std::int32_t>(3), c = right.matrix<double, std::int32_t>(4);
  contenders.emplace_back("eigen, by rows", Role::peer,
                          [b = eigen(b), c = eigen(c)] { return std::make_shared<const Sparse>(b * c); });
#endif
  const auto expected = rows();
  expect_same(name + ", sporos", ours(), expected);
  expect_same(name + ", insert-sort-merge", merged(), expected);
  expect_same(name + ", on one thread", alone(), expected);
  std::int64_t products = 0;
  const auto columns = B.level<1>().view();
  const auto of_rows = C.level<1>().view();
  for (std::int64_t row = 0; row < C.extent(0); ++row)
    products += (columns.positions[row + 1] - columns.positions[row]) *
                (of_rows.positions[row + 1] - of_rows.positions[row]);
  json about{{"result_nnz", expected.nnz()}, {"products", products}};
#ifdef SPOROS_HAVE_SPARSE_WS
  if (products < 5'000'000)  // for more it takes seconds
    if (const json wrong = add_sparse_ws(contenders, B, C, expected); !wrong.empty()) about["wrong"] = wrong;
#endif
  report.compare({name, about}, contenders);
}

Rows sparse_factor(std::int64_t rows, std::int64_t columns, std::int64_t each, unsigned seed = 9) {
  Rows out(rows, columns);
  std::mt19937 draw(seed);
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<std::int64_t> some;
    for (std::int64_t e = 0; e < each; ++e) some.push_back(static_cast<std::int64_t>(draw()) % columns);
    std::sort(some.begin(), some.end());
    some.erase(std::unique(some.begin(), some.end()), some.end());
    for (const std::int64_t column : some) out.put(column);
    out.end_row();
  }
  return out;
}

/// A(k, r) = T(i, j, k) * C(j, r) * D(i, r), whose loops over i and j are outside.
/// @param each  elements in a row of C and D
/// @param seed  of C; with the seed of D, 9, rows meet often and the result is nearly half full
void mttkrp(Report& report, const std::string& name, const Entries<double, 3>& tensor, std::int64_t columns,
            std::int64_t each, unsigned seed) {
  if (!report.wants(name)) return;
  const auto T = assemble<CSF<3>>(tensor);
  const auto C = sparse_factor(T.extent(1), columns, each, seed).matrix<>(4);
  const auto D = sparse_factor(T.extent(0), columns, each).matrix<>(5);
  const Extents<2> extents{T.extent(2), columns};
  const auto make = [=](const auto& run) {
    return [=] {
      const Tensor<double, CSR<>> A(extents);
      run(assign(A(k, r), T(i, j, k) * C(j, r) * D(i, r)));
      return A;
    };
  };
  const auto ours = make([](const auto& assignment) { assignment.run(); });
  const auto listed = make([](const auto& assignment) { assignment.template use<ListedNest>().run(); });
  const auto alone = make([](const auto& assignment) { assignment.on(one_thread()).run(); });
  const auto dense = [=] {
    const Tensor<double, DenseMatrix<>> A(extents);
    A(k, r) = T(i, j, k) * C(j, r) * D(i, r);
    return convert<CSR<>>(A);
  };
  expect_same(name + ", coordinate list", listed(), ours());
  expect_same(name + ", on one thread", alone(), ours());
  expect_same(name + ", dense", dense(), ours());
  const double full = static_cast<double>(ours().nnz()) / static_cast<double>(extents[0] * extents[1]);
  std::vector<Contender> contenders{{"sporos", Role::ours, ours},
                                    {"coordinate list", Role::variant, listed},
                                    {"dense, compressed afterwards", Role::peer, dense}};
  add_on_one_thread(contenders, alone);
  report.compare({name, {{"result_nnz", ours().nnz()}, {"full", full}, {"tensor_nnz", T.nnz()}}}, contenders);
}

/// A statement with a result of order 3, and the same through a list of coordinates.
template <class Statement>
void compare_with_list(Report& report, const std::string& name, std::int64_t tensor_nnz,
                       const Extents<3>& extents, const Statement& statement) {
  const auto make = [=](const auto& run) {
    return [=] {
      const Tensor<double, CSF<3>> A(extents);
      run(statement(A));
      return A;
    };
  };
  const auto ours = make([](const auto& assignment) { assignment.run(); });
  const auto listed = make([](const auto& assignment) { assignment.template use<ListedNest>().run(); });
  const auto alone = make([](const auto& assignment) { assignment.on(one_thread()).run(); });
  const auto expected = ours();
  expect_same(name + ", coordinate list", listed(), expected);
  expect_same(name + ", on one thread", alone(), expected);
  std::vector<Contender> contenders{{"sporos", Role::ours, ours}, {"coordinate list", Role::variant, listed}};
  add_on_one_thread(contenders, alone);
  report.compare({name, {{"result_nnz", expected.nnz()}, {"tensor_nnz", tensor_nnz}}}, contenders);
}

/// A(j, k, r) = T(i, j, k) * C(i, r), the product over the outermost mode, into a sparse result.
void ttm(Report& report, const Entries<double, 3>& tensor, std::int64_t columns) {
  const std::string name = text("SpTTM over the outermost mode, nips-like, ", columns, " columns");
  if (!report.wants(name)) return;
  const auto T = assemble<CSF<3>>(tensor);
  const auto C = sparse_factor(T.extent(0), columns, 4).matrix<>(4);
  compare_with_list(report, name, T.nnz(), {T.extent(1), T.extent(2), columns},
                    [=](const auto& A) { return assign(A(j, k, r), T(i, j, k) * C(i, r)); });
}

/// A(i, k, r) = T(i, j, k) * C(j, r), the product over the middle mode: each thread gathers slices of its own
/// in a workspace of its own.
void ttm_in_slices(Report& report, const Entries<double, 3>& tensor, std::int64_t columns) {
  const std::string name = text("SpTTM over the middle mode, nips-like, ", columns, " columns");
  if (!report.wants(name)) return;
  const auto T = assemble<CSF<3>>(tensor);
  const auto C = sparse_factor(T.extent(1), columns, 4).matrix<>(4);
  compare_with_list(report, name, T.nnz(), {T.extent(0), T.extent(2), columns},
                    [=](const auto& A) { return assign(A(i, k, r), T(i, j, k) * C(j, r)); });
}

void run(Report& report) {
  const Peers peers(report);
  report.count_memory();
  for (const auto& file : report.options().files) {
    const std::string name = "outer product, " + matrix_name(file);
    if (!report.wants(name)) continue;
    const Rows rows = pattern_of(file);
    outer_product(report, name, rows, rows.rows() == rows.columns() ? rows : rows.transposed());
  }
  const Rows grid7 = laplacian(80, false), grid27 = laplacian(45, true), graph = rmat(16, 500'000);
  outer_product(report, "outer product, laplacian7_80", grid7, grid7);
  outer_product(report, "outer product, laplacian27_45", grid27, grid27);
  outer_product(report, "outer product, rmat_16_500k", graph, graph);
  const auto tensor = nips_like(500'000);
  for (const std::int64_t columns : {16, 64, 256}) {
    mttkrp(report, text("SpMTTKRP, nips-like, J = ", columns), tensor, columns, columns / 16, 9);
    mttkrp(report, text("SpMTTKRP, nips-like, J = ", columns, ", few elements"), tensor, columns,
           std::max<std::int64_t>(columns / 64, 1), 8);
  }
  ttm(report, tensor, 64);
  ttm_in_slices(report, tensor, 64);
}

}  // namespace
}  // namespace sporos::perf

int main(int argc, char** argv) {
  return sporos::perf::benchmark(argc, argv, "workspaces", sporos::perf::run);
}
