import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { playAttacks } from '../../bench/abuse/simulate.ts'
import { ROOT } from '../../src/version.ts'

const page = readFileSync(join(ROOT, 'bench', 'abuse', 'attacks.md'), 'utf8')
const [, section = ''] = /## Attacks on the blocklist\n(.*?)\n## /s.exec(page) ?? []

/** The documented effects of each attack: a score, and the state of the address. */
const claims = [...section.matchAll(/^\| (.+?) +\| .+? \| ([\d.]+), (.+?) +\|$/gm)].map(
  ([, attack = '', score = '', outcome = '']) => ({ attack, score: Number(score), outcome }),
)

describe('the attacks of bench/abuse/attacks.md', () => {
  it('have the results that the page documents', { timeout: 300_000 }, async () => {
    expect(claims.length).toBeGreaterThanOrEqual(14)
    const lines = (await playAttacks()).map((line) => {
      const [, attack = '', score = '', outcome = ''] =
        /^(?:S\w+ +| +)(.+?) +([\d.]+)  (.+)$/.exec(line) ?? []
      return { attack, score: Number(score), outcome }
    })
    for (const { attack, score, outcome } of claims) {
      const played = lines.find((line) => line.attack === attack)
      expect([attack, played?.score]).toEqual([attack, score])
      // For owners, the page documents the result of the appeal; for listings, their duration.
      const shown = outcome.replace(/ for \d+ days?$/, '')
      expect([attack, played?.outcome]).toEqual([attack, expect.stringContaining(shown)])
    }
  })
})
