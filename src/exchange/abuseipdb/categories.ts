import { ABUSEIPDB_CATEGORIES, serviceOf, type Service } from '../../abuse/services.ts'

/** Categories of services that no category names. */
const OF_KIND: Record<Service['category'], number[]> = {
  bruteforce: [18],
  exploit: [15, 21],
  ddos: [4],
  abuse: [15],
  scan: [14],
  malware: [20],
  spam: [11],
  fraud: [3],
}

const byService = Map.groupBy(ABUSEIPDB_CATEGORIES, ([, id]) => id)

/** AbuseIPDB’s category numbers for a service. */
export function categoriesOf(id: string): number[] {
  const named = byService.get(id)?.map(([number]) => number) ?? []
  const numbers = [...named, ...OF_KIND[serviceOf(id).category]]
  return [...new Set(numbers)].toSorted((a, b) => a - b)
}
