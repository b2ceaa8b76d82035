import { useQuery } from '@tanstack/react-query'
import { domainCheckQuery, storedCheckQuery, type DomainCheck, type DomainReport } from './api.ts'

const NOTHING_YET: DomainCheck = { lines: [], fixes: null, report: null, receipt: null }

/**
 * Checks a domain. Until the check is complete, lines that are still missing are those of the last
 * stored check, where the domain is watched.
 */
export function useDomainCheck(domain: string) {
  const {
    data: fresh = NOTHING_YET,
    error,
    isFetching,
    refetch,
  } = useQuery(domainCheckQuery(domain))
  const { data: stored = null } = useQuery(storedCheckQuery(domain))
  const check = fresh.report === null && stored !== null ? fillIn(fresh, stored) : fresh
  return { check, done: fresh.lines.length, error, isFetching, refetch }
}

function fillIn({ lines }: DomainCheck, stored: DomainReport): DomainCheck {
  const fresh = new Map(lines.map((line) => [line.name, line]))
  return {
    lines: stored.lines.map((line) => fresh.get(line.name) ?? line),
    fixes: stored.fixes,
    report: stored,
    receipt: null,
  }
}
