const LINE = Buffer.from('\nFrom ')

/** Whether a file may be an mbox: many mails, each behind a line that begins with `From `. */
export function isMbox(head: Uint8Array): boolean {
  return Buffer.from(head.subarray(0, 5)).toString('latin1') === 'From '
}

/**
 * Splits an mbox (RFC 4155) into its mails, each with the line before it. Only a `From ` after an
 * empty line begins a mail, because not all writers escape those within a mail.
 * @param largest bytes of one mail; the rest of a larger one is left out
 */
export async function* splitMbox(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  largest: number,
): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0)
  let from = 0
  for await (const chunk of chunks) {
    held = Buffer.concat([held, chunk])
    for (let at = held.indexOf(LINE, from); at !== -1; at = held.indexOf(LINE, from)) {
      from = at + 1
      if (!endsEmpty(held, at)) continue
      yield held.subarray(0, Math.min(at + 1, largest))
      held = held.subarray(at + 1)
      from = 0
    }
    // A line may lie across two chunks.
    from = Math.max(0, held.length - LINE.length)
    if (held.length <= largest + 2 * LINE.length) continue
    // Of the part that is left out, enough is kept to find the start of the next mail.
    held = Buffer.concat([held.subarray(0, largest), held.subarray(from)])
    from = largest
  }
  if (held.length > 0) yield held.subarray(0, largest)
}

/** Whether the line that ends here is an empty one. */
function endsEmpty(bytes: Buffer, at: number): boolean {
  const before = bytes[at - 1] === 0x0d ? at - 2 : at - 1
  return before >= 0 && bytes[before] === 0x0a
}
