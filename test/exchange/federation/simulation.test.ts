import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { playFederation } from '../../../bench/abuse/federation.ts'
import { ROOT } from '../../../src/version.ts'
import { freshDatabase } from '../../database.ts'

const page = readFileSync(join(ROOT, 'bench/abuse/attacks.md'), 'utf8')
/** The documented results: what was done, the score, and the state of the address. */
const claims = [...page.matchAll(/^\| ([^|]+?) +\| ([\d.]+), (\w+) +\|$/gm)].map(
  ([, what = '', score = '', state = '']) => ({ what, score: Number(score), state }),
)

it(
  'lets a hostile peer among ten list no innocent and free no attacker',
  { timeout: 240_000 },
  async () => {
    const database = await freshDatabase()
    try {
      const { played, week } = await playFederation(database.url)
      expect(claims.length).toBeGreaterThan(12)
      expect(played).toEqual(claims)
      expect(week).toEqual({ innocents: 30, listedInnocents: 0, attackers: 20, freed: 0 })
    } finally {
      await database.drop()
    }
  },
)
