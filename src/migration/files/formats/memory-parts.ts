/** Bytes that are converted at a time: they and the result fit into the caches of processors. */
export const CONVERTED_BYTES = 128 * 1024
const SCAN_BYTES = 256 * 1024
/** In front of each part: the byte in front of the first one is read, too. */
const GAP_BYTES = 64

/** The places of the parts of the memory of bare-ends.wat, in bytes. */
export const MEMORY_PARTS = {
  /** What a scanner reads. */
  scan: { at: GAP_BYTES, bytes: SCAN_BYTES },
  /** What is converted. */
  in: { at: 2 * GAP_BYTES + SCAN_BYTES, bytes: CONVERTED_BYTES },
  /** Its result, unless that is converted to another place. */
  out: { at: 3 * GAP_BYTES + SCAN_BYTES + CONVERTED_BYTES, bytes: 2 * CONVERTED_BYTES },
  /** The rest, for messages that another thread reads. */
  messages: { at: 4 * GAP_BYTES + SCAN_BYTES + 3 * CONVERTED_BYTES },
} as const
