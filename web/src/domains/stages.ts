import type { LINES_BY_STAGE, StageName } from '../../../src/domains/shapes.ts'

export type { StageName }

/** The stages of the mail path in its order, with the number of their lines. */
export const LINES_PER_STAGE = {
  sender: 2,
  authentication: 4,
  mx: 3,
  tls: 8,
  reputation: 2,
} satisfies { [Stage in StageName]: (typeof LINES_BY_STAGE)[Stage]['length'] }

export const STAGES = Object.keys(LINES_PER_STAGE) as StageName[]

export const LINE_COUNT = Object.values(LINES_PER_STAGE).reduce((sum, count) => sum + count, 0)
