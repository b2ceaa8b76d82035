/**
 * Frees the memory of a buffer at once. The garbage collector frees such memory late, and collects
 * the whole heap whenever some megabytes of it were allocated. A buffer that shares its memory with
 * others keeps it.
 */
export function freeBuffer({ buffer, length }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0)
}
