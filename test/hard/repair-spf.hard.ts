import * as fc from 'fast-check'
import { it } from 'vitest'
import { damagedSpf, expectHarmless } from '../protocols/spf/damaged-spf.ts'
import { figure } from './figures.ts'

const RUNS = 200_000

it('proposes no SPF record that stops mail or is weaker, however the published one is damaged', () => {
  fc.assert(fc.property(damagedSpf, expectHarmless), { numRuns: RUNS })
  figure(
    `repairs of ${RUNS.toLocaleString('en')} damaged SPF records`,
    'every proposal is valid, keeps what the record names, and is no weaker',
  )
})
