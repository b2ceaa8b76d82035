/** RFC 7208, 2.6. */
export const SPF_RESULTS = [
  'none',
  'neutral',
  'pass',
  'fail',
  'softfail',
  'temperror',
  'permerror',
] as const
export type SpfResult = (typeof SPF_RESULTS)[number]

/** Ends the whole evaluation, however deep in includes. */
export class SpfEnded extends Error {
  readonly result: SpfResult
  constructor(result: SpfResult, reason: string) {
    super(reason)
    this.result = result
  }
}

export const permerror = (reason: string) => new SpfEnded('permerror', reason)
