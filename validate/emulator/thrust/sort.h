/* The one algorithm of Thrust that the ladder calls, on the host: a stable sort of values by their keys. */
#ifndef MD_VALIDATE_EMULATOR_THRUST_SORT_H
#define MD_VALIDATE_EMULATOR_THRUST_SORT_H

#include <algorithm>
#include <numeric>
#include <vector>

namespace thrust
{
template <class T> using device_ptr = T *;

template <class Key, class Value> void sort_by_key(Key *key, Key *end, Value *value)
{
  const std::vector<Key> keys(key, end);
  const std::vector<Value> values(value, value + keys.size());
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  for (size_t k = 0; k < order.size(); ++k) {
    key[k] = keys[order[k]];
    value[k] = values[order[k]];
  }
}
} // namespace thrust

#endif
