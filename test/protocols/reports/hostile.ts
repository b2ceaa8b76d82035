import * as fc from 'fast-check'
import { anyText } from '../../any-text.ts'
import { expect } from 'vitest'

/** Fragments of records that parsers look for, or fail on. */
const PIECES =
  'v=DMARC1|v=DKIM1|v=spf1|v=STSv1|v=TLSRPTv1|v=BIMI1|; |;| |=|:|/|//24|%|%{|%{i}|}|p=|p=none|sp=x|np=reject|psd=y|t=y|' +
  'fo=0:1:d:s|pct=50|rua=|mailto:|!10m|,|a@b.example|include:|redirect=|exp=|a|mx|ptr|-all|?all|ip4:|ip6:|::1|1.2.3.4|/33|' +
  'k=rsa|k=ed25519|h=sha1|constructor=|__proto__=|toString|\0|é|\u{1f4e7}|\ud800|mode: enforce\n'

/** Texts as strangers publish them: pieces of real records in any order, and anything else. */
export function hostile() {
  const piece = fc.oneof(fc.constantFrom(...PIECES.split('|')), fc.string())
  return fc.oneof(
    fc.array(piece, { maxLength: 30 }).map((all) => all.join('')),
    anyText(),
  )
}

/** 64 KB, the most that a TXT record can hold. */
const LONGEST = 65_536
/**
 * A parser that looks at each character a few times needs some milliseconds of processor time; one
 * that is quadratic needs minutes.
 */
const PATIENCE_MS = 1_500

/** Feeds each text, repeated to 64 KB behind each start, and expects it to be read in no time. */
export function within(parse: (text: string) => unknown, repeated: string[], starts = ['']): void {
  for (const start of starts) {
    for (const piece of repeated) {
      const text = (start + piece.repeat(LONGEST / piece.length)).slice(0, LONGEST)
      const before = process.threadCpuUsage()
      parse(text)
      const { user, system } = process.threadCpuUsage(before)
      expect((user + system) / 1_000, `${start}${piece}…`).toBeLessThan(PATIENCE_MS)
    }
  }
}
