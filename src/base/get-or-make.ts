/**
 * Returns the value that a map has for an object. If there is none, makes and stores it. The value lives no longer
 * than the object.
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
