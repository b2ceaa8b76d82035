/** Frees a place in memory that threads share. */
type FreePlace = (place: number) => void

const sharedMemory = new WeakMap<ArrayBufferLike, FreePlace>()

/** Lets `freeBuffer` free places in memory that threads share. */
export function freeSharedWith(memory: SharedArrayBuffer, free: FreePlace): void {
  sharedMemory.set(memory, free)
}

/** Whether a buffer has all of its memory, or a place of its own in memory that threads share. */
export function ownsMemory({ buffer, length }: Buffer): boolean {
  return buffer.byteLength === length || sharedMemory.has(buffer)
}

/**
 * Frees the memory of a buffer at once. The garbage collector frees such memory late, and collects
 * the whole heap whenever some megabytes of it were allocated. A buffer that shares its memory with
 * others keeps it.
 */
export function freeBuffer({ buffer, byteOffset, length }: Buffer): void {
  sharedMemory.get(buffer)?.(byteOffset)
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0)
}
