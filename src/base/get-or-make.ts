/**
 * Returns the value that a map has for an object. If the map has none, makes a value and stores it. The map keeps the
 * value no longer than the object exists.
 */
export function getOrMake<Key extends object, Value>(
  map: WeakMap<Key, Value>,
  key: Key,
  make: () => Value,
): Value {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}
