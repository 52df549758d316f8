// SPDX-License-Identifier: Apache-2.0
/// @file input.cpp
/// Selects the reader that a file needs.
#include "input.hpp"

#include <sys/stat.h>

#include <Kokkos_Timer.hpp>

#include "command.hpp"

namespace sporos::tool {
namespace {

/// A file is opened twice, to find out its kind and to read it; a pipe would be empty the second time.
void refuse_pipe(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    throw UsageError(path + ": is not a regular file: save its contents in a file first");
}

/// Two numbers on a line are a vector's coordinate and value, or an edge; a file with extents tells which.
void refuse_edges(const std::string& path, const FileInfo& file) {
  if (file.kind == FileKind::tns && file.order == 1 && file.extents.empty())
    throw UsageError(path +
                     ": holds two numbers on each line, a vector or a list of edges: give --vector (to info, "
                     "validate, convert or spy), or add a third number to each line, the value of the edge");
}

AnyEntries read_by_field(const std::string& path, MatrixMarketField field, const ReadOptions& options) {
  switch (field) {
    case MatrixMarketField::integer:
      return read_entries<std::int64_t, 2>(path, options);
    case MatrixMarketField::complex:
      return read_entries<Complex, 2>(path, options);
    default:
      return read_entries<double, 2>(path, options);
  }
}

AnyEntries read_by_order(const std::string& path, int order) {
  switch (order) {
    case 1:
      return read_entries<double, 1>(path);
    case 2:
      return read_entries<double, 2>(path);
    case 3:
      return read_entries<double, 3>(path);
    case 4:
      return read_entries<double, 4>(path);
    case 5:
      return read_entries<double, 5>(path);
    case 6:
      return read_entries<double, 6>(path);
    default:
      throw UsageError(
          text(path, ": holds a tensor of order ", order, ", expected order 1 to ", largest_order));
  }
}

/// The number of entries above the diagonal in a symmetric file. They are followed by their mirror images.
std::int64_t count_above_diagonal(const AnyEntries& any) {
  return std::visit(
      []<class Value, int Order>(const Entries<Value, Order>& entries) {
        std::int64_t above = 0;
        if constexpr (Order == 2)
          for (std::int64_t q = 0; q < entries.size(); ++q) {
            const auto [i, j] = entries.coordinate(q);
            above += i < j;
            q += i != j;
          }
        return above;
      },
      any);
}

}  // namespace

std::int64_t size_of(const AnyEntries& entries) {
  return std::visit([](const auto& e) { return e.size(); }, entries);
}

std::vector<std::int64_t> extents_of(const AnyEntries& entries) {
  return std::visit(
      [](const auto& e) { return std::vector<std::int64_t>(e.extents.begin(), e.extents.end()); }, entries);
}

bool Input::is_pattern() const {
  return file.kind == FileKind::smtx ||
         (file.matrix_market && file.matrix_market->field == MatrixMarketField::pattern);
}

std::string_view Input::field() const {
  if (is_pattern()) return "pattern";
  return file.matrix_market ? io::to_string(file.matrix_market->field) : "real";
}

std::string_view Input::symmetry() const {
  return to_string(file.matrix_market ? file.matrix_market->symmetry : MatrixMarketSymmetry::general);
}

Input read_input(const std::string& path, const InputOptions& options) {
  refuse_pipe(path);
  Input input;
  input.path = path;
  const Kokkos::Timer timer;
  input.file = inspect(path);
  if (!options.vector) refuse_edges(path, input.file);
  ReadOptions reading;
  reading.strict = options.strict;
  input.entries = input.file.matrix_market ? read_by_field(path, input.file.matrix_market->field, reading)
                                           : read_by_order(path, input.file.order);
  if (input.symmetry() != "general") input.above_diagonal = count_above_diagonal(input.entries);
  input.seconds = timer.seconds();
  return input;
}

Input read_matrix(const std::string& path) {
  Input input = read_input(path);
  if (input.order() != 2)
    throw UsageError(text(path, ": holds a tensor of order ", input.order(), ", expected a matrix"));
  return input;
}

void describe(Report& report, const Input& input) {
  std::string kind(to_string(input.file.kind));
  if (const auto& header = input.file.matrix_market)
    kind += text(", ", to_string(header->layout), ' ', io::to_string(header->field), ' ',
                 to_string(header->symmetry));
  report.fact("file", "", input.path);
  report.fact("kind", kind + (input.file.compressed ? ", gzip" : ""));
  report.fact("file_bytes", "size of file", Bytes{input.file.bytes});
  report.fact("field", "", std::string(input.field()));
  report.fact("symmetry", "", std::string(input.symmetry()));
  report.fact("order", "", Count{input.order()});
  report.fact("extents", Shape{input.extents()});
  report.fact("entries", Count{input.size()});
  const auto& stored = input.file.stored;
  const bool one_triangle = stored && *stored != input.size();
  report.fact("entries_in_file", one_triangle ? "in the file" : "",
              stored ? Cell(Count{*stored}) : Cell(Absent{}));
  const auto& above = input.above_diagonal;
  report.fact("entries_above_diagonal", above.value_or(0) > 0 ? "above the diagonal" : "",
              above ? Cell(Count{*above}) : Cell(Absent{}));
  report.fact("read_seconds", "read in", Seconds{input.seconds});
}

}  // namespace sporos::tool
