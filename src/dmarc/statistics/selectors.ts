import type { AggregateRecord } from '../../protocols/reports/aggregate-report.ts'
import { MAX_REPORT_SELECTORS } from '../limits.ts'

/** The message counts of a signer's selector in one report. */
export type SelectorTally = { signer: string; selector: string; messages: number; passed: number }

/** Sums the selectors of one report. */
export function createSelectors() {
  const seen = new Map<string, SelectorTally>()
  return {
    add({ count, authResults }: AggregateRecord): void {
      for (const { domain, selector, result } of authResults.dkim) {
        if (!domain || !selector || selector.length > 255 || domain.length > 255) continue
        // RFC 8601, 2.7.1: `none` is a message that was not signed.
        if (result === 'none') continue
        const key = `${domain} ${selector}`
        const known = seen.get(key) ?? { signer: domain, selector, messages: 0, passed: 0 }
        if (!seen.has(key) && seen.size === MAX_REPORT_SELECTORS) continue
        known.messages += count
        if (result === 'pass') known.passed += count
        seen.set(key, known)
      }
    },
    all: (): SelectorTally[] => [...seen.values()],
  }
}
