const isHard = Boolean(process.env['PORTREEVE_HARD'])

/**
 * How a property runs: in the suite with the same values on every machine, in `test:hard` with more
 * and other ones.
 */
export function propertyRuns(inSuite: number, inHard: number) {
  return isHard
    ? { numRuns: inHard, endOnFailure: true }
    : { numRuns: inSuite, seed: 20_261_128, endOnFailure: true }
}
