// SPDX-License-Identifier: Apache-2.0
/// @file product_files.cpp
/// Reading factors and writing products.
#include "product_files.hpp"

#include <cmath>

#include "operands.hpp"

namespace sporos::tool {
namespace {

void expect_fit(const Input& A, const Input& B) {
  const auto a = A.extents(), b = B.extents();
  if (a[1] != b[0])
    throw UsageError(text(A.path, " is ", to_text(Cell(Shape{a})), " and ", B.path, " is ",
                          to_text(Cell(Shape{b})), ": the columns of the first, ", a[1],
                          ", must be as many as the rows of the second, ", b[0]));
  expect_narrow(A, "multiply");
  expect_narrow(B, "multiply");
}

bool is_whole(const Input& input) { return input.field() == "integer" || input.field() == "pattern"; }

/// Products of integers and patterns are integers, and are written as such if doubles represent them exactly.
AnyEntries as_integers(const AnyEntries& any) {
  const auto& real = std::get<Entries<double, 2>>(any);
  Entries<std::int64_t, 2> out(real.extents, 0);
  out.coordinates = real.coordinates;
  out.values = make_array<std::int64_t>("sporos::product", real.size());
  for (std::size_t q = 0; q < out.values.extent(0); ++q) {
    if (!(std::abs(real.values(q)) < 0x1p53)) return any;
    out.values(q) = static_cast<std::int64_t>(real.values(q));
  }
  return out;
}

}  // namespace

std::optional<Destination> destination_of(const ProductFiles& files) {
  if (files.c.empty()) return std::nullopt;
  return destination(files.c, files.output, 2);
}

MatrixFactors read_factors(const ProductFiles& files) {
  MatrixFactors out;
  out.A = read_matrix(files.a, files.input);
  out.B = files.b == files.a ? out.A : read_matrix(files.b, files.input);
  expect_fit(out.A, out.B);
  return out;
}

void describe_factor(Report& report, const Input& input, const Stored& stored) {
  describe(report, input);
  report.fact("format", "stored as", stored.format);
  report.fact("bytes", "memory", Bytes{stored.bytes});
  report.fact("assemble_seconds", "assembled in", Seconds{stored.assemble_seconds});
}

void write_product(Outcome& outcome, const Destination& out, const MatrixFactors& factors,
                   const AnyEntries& C) {
  const bool whole = is_whole(factors.A) && is_whole(factors.B);
  report_output(outcome, out, write_output(out, whole ? as_integers(C) : C, OutputStyle{}));
}

}  // namespace sporos::tool
