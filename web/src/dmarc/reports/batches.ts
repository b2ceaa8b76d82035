/** Limits of one upload to the service, less the bytes that a form adds. */
const MAX_BATCH_FILES = 100
const MAX_BATCH_BYTES = 24_000_000

/**
 * Groups files into uploads. A file that is too large goes alone, so that the service can reject it
 * with a reason.
 */
export function splitIntoBatches<T extends { size: number }>(files: T[]): T[][] {
  const batches: T[][] = []
  let bytes = 0
  for (const file of files) {
    const last = batches.at(-1)
    if (last && last.length < MAX_BATCH_FILES && bytes + file.size <= MAX_BATCH_BYTES)
      last.push(file)
    else {
      batches.push([file])
      bytes = 0
    }
    bytes += file.size
  }
  return batches
}
