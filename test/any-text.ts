import * as fc from 'fast-check'

const SURROGATES = 0x800

/** Any character, but no half of one. */
const character = fc
  .nat(0x10ffff - SURROGATES)
  .map((n) => String.fromCodePoint(n < 0xd800 ? n : n + SURROGATES))

/**
 * Text of any characters, as `fc.string({ unit: 'binary' })`, which first takes more than a second
 * to build a table of all of them.
 */
export function anyText(options: { maxLength?: number } = {}) {
  return fc.string({ ...options, unit: character })
}
