import { LRUCache } from 'lru-cache'

/**
 * Creates a cache that keeps the entries used last, and whose memory grows with them. The library
 * would allocate that of `max` entries at once: some 20 ms and 2.4 MB for 100,000.
 * @param max the number of entries, or the sum of their sizes
 * @param ttl milliseconds for which an entry is kept
 */
export function createRecentEntries<Value extends {}>(
  max: number,
  { ttl = 0, sizeOf = () => 1 }: { ttl?: number; sizeOf?: (value: Value) => number } = {},
): LRUCache<string, Value> {
  return new LRUCache({ maxSize: max, sizeCalculation: sizeOf, ttl })
}
