/** Returns what a map keeps for an object, and makes it the first time. Kept no longer than the object lives. */
export function getOrMake<Key extends object, Value>(
  map: WeakMap<Key, Value>,
  key: Key,
  make: () => Value,
): Value {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}
