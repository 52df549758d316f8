// SPDX-License-Identifier: Apache-2.0
/// @file ordering.cpp
/// Breadth-first search over the graph of a matrix.
#include "ordering.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "command.hpp"
#include "sorted.hpp"
#include "statistics.hpp"

namespace sporos::tool {
namespace {

std::span<const std::int64_t> neighbours_of(const Graph& graph, std::int64_t node) {
  return {graph.neighbours.data() + graph.begins[static_cast<std::size_t>(node)],
          static_cast<std::size_t>(graph.degree(node))};
}

/// Visits the components of a graph, one after another.
class CuthillMcKee {
 public:
  explicit CuthillMcKee(const Graph& graph)
      : graph_(graph), numbered_(static_cast<std::size_t>(graph.nodes())), seen_(numbered_.size()) {}

  NodeOrder run() {
    for (const std::int64_t node : by_degree(graph_))
      if (!numbered_[static_cast<std::size_t>(node)]) number(far_from(node));
    return std::move(order_);
  }

 private:
  /// The nodes of a component, level by level.
  struct Levels {
    std::vector<std::int64_t> nodes;
    std::size_t last_begin = 0;  ///< where the last level begins
    std::int64_t count = 0;
  };

  Levels levels_from(std::int64_t start) {
    Levels out;
    out.nodes.push_back(start);
    seen_[static_cast<std::size_t>(start)] = true;
    for (std::size_t begin = 0; begin < out.nodes.size(); ++out.count) {
      out.last_begin = begin;
      const std::size_t end = out.nodes.size();
      for (; begin < end; ++begin)
        for (const std::int64_t next : neighbours_of(graph_, out.nodes[begin])) {
          if (seen_[static_cast<std::size_t>(next)]) continue;
          seen_[static_cast<std::size_t>(next)] = true;
          out.nodes.push_back(next);
        }
    }
    for (const std::int64_t node : out.nodes) seen_[static_cast<std::size_t>(node)] = false;
    return out;
  }

  /// A node of the component that is far from some other one: goes to the farthest node from the current one
  /// as long as that increases the distance.
  std::int64_t far_from(std::int64_t node) {
    Levels levels = levels_from(node);
    while (true) {
      const std::int64_t end =
          *std::min_element(levels.nodes.begin() + static_cast<std::ptrdiff_t>(levels.last_begin),
                            levels.nodes.end(), [&](std::int64_t a, std::int64_t b) { return before(a, b); });
      Levels farther = levels_from(end);
      if (farther.count <= levels.count) return node;
      node = end;
      levels = std::move(farther);
    }
  }

  bool before(std::int64_t a, std::int64_t b) const {
    return std::pair(graph_.degree(a), a) < std::pair(graph_.degree(b), b);
  }

  /// Appends a component to the order, breadth-first.
  void number(std::int64_t start) {
    std::size_t at = order_.size();
    append(start);
    for (; at < order_.size(); ++at) {
      const std::size_t begin = order_.size();
      for (const std::int64_t next : neighbours_of(graph_, order_[at]))
        if (!numbered_[static_cast<std::size_t>(next)]) append(next);
      std::sort(order_.begin() + static_cast<std::ptrdiff_t>(begin), order_.end(),
                [&](std::int64_t a, std::int64_t b) { return before(a, b); });
    }
  }
  void append(std::int64_t node) {
    numbered_[static_cast<std::size_t>(node)] = true;
    order_.push_back(node);
  }

  const Graph& graph_;
  std::vector<bool> numbered_, seen_;
  NodeOrder order_;
};

/// The neighbours of each node in the order in which entries name them, some of them repeated.
template <class Value>
Graph with_repeats(const Entries<Value, 2>& entries) {
  Graph out;
  out.begins.resize(static_cast<std::size_t>(entries.extents[0]) + 1);
  const auto for_each_pair = [&](const auto& body) {
    for (std::int64_t q = 0; q < entries.size(); ++q) {
      const auto [i, j] = entries.coordinate(q);
      if (i == j) continue;
      body(i, j);
      body(j, i);
    }
  };
  for_each_pair([&](std::int64_t i, std::int64_t) { ++out.begins[static_cast<std::size_t>(i) + 1]; });
  std::partial_sum(out.begins.begin(), out.begins.end(), out.begins.begin());
  out.neighbours.resize(static_cast<std::size_t>(out.begins.back()));
  std::vector<std::int64_t> next(out.begins.begin(), out.begins.end() - 1);
  for_each_pair([&](std::int64_t i, std::int64_t j) {
    out.neighbours[static_cast<std::size_t>(next[static_cast<std::size_t>(i)]++)] = j;
  });
  return out;
}

}  // namespace

Graph graph_of(const AnyEntries& any) {
  Graph repeated = std::visit(
      []<class Value, int Order>(const Entries<Value, Order>& entries) -> Graph {
        if constexpr (Order == 2)
          return with_repeats(entries);
        else
          throw InternalError("only matrices have graphs");
      },
      any);
  const std::int64_t nodes = repeated.nodes();
  Graph out;
  out.begins.resize(repeated.begins.size());
  in_parts(nodes, [&](std::int64_t begin, std::int64_t end) {
    for (auto node = static_cast<std::size_t>(begin); node < static_cast<std::size_t>(end); ++node) {
      const auto first = repeated.neighbours.begin() + repeated.begins[node];
      const auto last = repeated.neighbours.begin() + repeated.begins[node + 1];
      std::sort(first, last);
      out.begins[node + 1] = std::unique(first, last) - first;
    }
  });
  std::partial_sum(out.begins.begin(), out.begins.end(), out.begins.begin());
  out.neighbours.resize(static_cast<std::size_t>(out.begins.back()));
  in_parts(nodes, [&](std::int64_t begin, std::int64_t end) {
    for (auto node = static_cast<std::size_t>(begin); node < static_cast<std::size_t>(end); ++node)
      std::copy_n(repeated.neighbours.begin() + repeated.begins[node],
                  out.begins[node + 1] - out.begins[node], out.neighbours.begin() + out.begins[node]);
  });
  return out;
}

NodeOrder reverse_cuthill_mckee(const Graph& graph) {
  NodeOrder order = CuthillMcKee(graph).run();
  std::reverse(order.begin(), order.end());
  return order;
}

NodeOrder by_degree(const Graph& graph) {
  NodeOrder order(static_cast<std::size_t>(graph.nodes()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return graph.degree(a) < graph.degree(b); });
  return order;
}

std::vector<std::int64_t> places(const NodeOrder& order) {
  std::vector<std::int64_t> out(order.size());
  for (std::size_t place = 0; place < order.size(); ++place)
    out[static_cast<std::size_t>(order[place])] = static_cast<std::int64_t>(place);
  return out;
}

Envelope envelope(const Graph& graph, const NodeOrder& order) {
  const std::vector<std::int64_t> place = places(order);
  Envelope out;
  for (std::int64_t node = 0; node < graph.nodes(); ++node) {
    const std::int64_t i = place[static_cast<std::size_t>(node)];
    std::int64_t first = i;
    for (const std::int64_t next : neighbours_of(graph, node))
      first = std::min(first, place[static_cast<std::size_t>(next)]);
    out.bandwidth = std::max(out.bandwidth, i - first);
    out.profile += i - first;
  }
  return out;
}

AnyEntries reordered(const AnyEntries& any, const NodeOrder& order, Duplicates duplicates) {
  const std::vector<std::int64_t> place = places(order);
  const AnyEntries moved = std::visit(
      [&]<class Value, int Order>(const Entries<Value, Order>& entries) -> AnyEntries {
        Entries<Value, Order> out(entries.extents, entries.size());
        in_parts(entries.size(), [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t q = begin; q < end; ++q) {
            auto coordinate = entries.coordinate(q);
            for (std::int64_t& i : coordinate) i = place[static_cast<std::size_t>(i)];
            out.set(q, coordinate, entries.values(static_cast<std::size_t>(q)));
          }
        });
        return out;
      },
      any);
  return merged(moved, duplicates, false);
}

}  // namespace sporos::tool
