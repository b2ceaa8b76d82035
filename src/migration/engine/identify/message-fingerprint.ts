import { createHash, hash } from 'node:crypto'

/** Bytes of a message without Message-ID that its fingerprint covers. */
export const FINGERPRINT_BYTES = 64 * 1024

/** Of them: the last bytes may split a line ending, which the other copy does not have there. */
export const COVERED_BYTES = FINGERPRINT_BYTES - 4_096

/**
 * Normalizes a message’s Message-ID: folding, white space, comments, brackets and the case of the
 * domain do not matter (RFC 5322, 3.6.4). Of several fields the first with a value counts.
 * @param values the fields’ values, unfolded or not
 * @returns null when there is none
 */
export function messageIdOf(values: readonly string[]): string | null {
  for (const value of values) {
    const id = normalise(value)
    if (id !== '') return id
  }
  return null
}

function normalise(value: string): string {
  const bare = withoutComments(value)
  const inside = /<([^<>]*)>/.exec(bare)?.[1] ?? bare
  const id = inside.replace(/\s+/g, '')
  const at = id.lastIndexOf('@')
  return at === -1 ? id : id.slice(0, at) + id.slice(at).toLowerCase()
}

/**
 * Removes comments, innermost first. An identifier that only looks like one, `<(a)@b>`, is kept.
 */
function withoutComments(value: string): string {
  const outside = value.replace(/<[^<>]*>/, ' ')
  const id = /<[^<>]*>/.exec(value)?.[0]
  if (id !== undefined) return id
  let [bare, before] = [outside, '']
  while (bare !== before) [bare, before] = [bare.replace(/\([^()]*\)/g, ' '), bare]
  return bare
}

const IDENTIFYING = /^(from|to|cc|date|subject|content-type)[ \t]*:(.*)$/i

/**
 * Computes a fingerprint of a message without Message-ID from some header fields and the beginning
 * of its body, regardless of its line endings.
 * @param head the message’s first `FINGERPRINT_BYTES` bytes, or all of it
 */
export function contentFingerprint(head: Buffer): string {
  const text = head.toString('latin1', 0, FINGERPRINT_BYTES).replace(/\r+\n?|\n/g, '\n')
  const end = text.startsWith('\n') ? 0 : text.indexOf('\n\n')
  const header = (end === -1 ? text : text.slice(0, end)).replace(/\n[ \t]+/g, ' ')
  const fields = header.split('\n').flatMap((line) => {
    const match = IDENTIFYING.exec(line)
    return match ? [`${match[1]?.toLowerCase()}:${match[2]?.trim()}`] : []
  })
  const sum = createHash('sha256').update(fields.toSorted().join('\n'))
  const body = end === -1 ? '' : text.slice(end, COVERED_BYTES).trimEnd()
  return `#${sum.update('\n\n').update(body, 'latin1').digest('base64url')}`
}

/** Shortens keys, so that a folder of 200,000 messages does not keep 200,000 long strings. */
export function shortenKey(key: string): string {
  return key.length <= 24 ? key : hash('sha256', key, 'base64url').slice(0, 22)
}
