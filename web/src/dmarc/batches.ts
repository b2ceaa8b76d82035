/** What the service takes at once, with room for what a form adds. */
const MOST_FILES = 100
const MOST_BYTES = 24_000_000

/** Files in parts that may each be sent at once; one that is too large goes alone, and is refused with a reason. */
export function batchesOf<T extends { size: number }>(files: T[]): T[][] {
  const batches: T[][] = []
  let bytes = 0
  for (const file of files) {
    const last = batches.at(-1)
    if (last && last.length < MOST_FILES && bytes + file.size <= MOST_BYTES) last.push(file)
    else {
      batches.push([file])
      bytes = 0
    }
    bytes += file.size
  }
  return batches
}
