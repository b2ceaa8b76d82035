import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { playAttacks } from '../../bench/abuse/simulate.ts'
import { ROOT } from '../../src/version.ts'

const page = readFileSync(join(ROOT, 'docs', 'scoring.md'), 'utf8')
const [, section = ''] = /## Attacks on the blocklist\n(.*?)\n## /s.exec(page) ?? []

/** What the page says that each attack achieves now: a score, and what becomes of the address. */
const claims = [...section.matchAll(/^\| (.+?) +\| .+? \| ([\d.]+), (.+?) +\|$/gm)].map(
  ([, attack = '', score = '', outcome = '']) => ({ attack, score: Number(score), outcome }),
)

describe('the attacks of docs/scoring.md', () => {
  it('have the results that the page documents', { timeout: 300_000 }, async () => {
    expect(claims.length).toBeGreaterThanOrEqual(14)
    const lines = (await playAttacks()).map((line) => {
      const [, attack = '', score = '', outcome = ''] = /^(?:S\w+ +| +)(.+?) +([\d.]+)  (.+)$/.exec(line) ?? []
      return { attack, score: Number(score), outcome }
    })
    for (const { attack, score, outcome } of claims) {
      const played = lines.find((line) => line.attack === attack)
      expect([attack, played?.score]).toEqual([attack, score])
      // The page says of an owner what became of the appeal, and of a listing how long it lasts.
      const shown = outcome.replace(/ for \d+ days?$/, '')
      expect([attack, played?.outcome]).toEqual([attack, expect.stringContaining(shown)])
    }
  })
})
