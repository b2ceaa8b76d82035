import type { Ranges } from '../ranges/ranges.ts'
import type { AttackerNetwork } from '../reputation/attacker-network.ts'
import type { Reporter } from '../reputation/reporter.ts'
import type { Standing, TraitsOf } from '../scoring/score.ts'
import type { Standings } from '../reputation/standings.ts'
import type { Refutation } from '../reputation/reputation.sql.ts'
import type { AddressRow } from '../attack-list.sql.ts'
import { RATE, takeOne, type Allowance } from './rate.ts'
import { applyReport, type AppliedOutcome, type AttackReport } from './record-report.ts'
import type { Changes, Found, AttackReportRow, RateUsage } from './intake.sql.ts'

export type LedgerDeps = {
  ranges: Ranges
  standings: Standings
  traitsOf: TraitsOf
  /** The network of an attacker, by the key of its address. */
  networkOfAttacker: (key: string) => AttackerNetwork
}

/** The reporter, its weight for this report, and its token. */
type Sender = { reporter: Reporter; standing: Standing; tokenId: string | null }

export type Ledger = {
  /** Charges one request to its source and to the IPv6 site around it. */
  admit(reporter: Reporter): Allowance
  take(report: AttackReport, sender: Sender): AppliedOutcome
  changes(): Changes
}

const IGNORED: AppliedOutcome = {
  deduped: false,
  ignored: true,
  score: 0,
  listingState: 'whitelisted',
  confidenceLevel: 'none',
}

/** Applies a group of reports in memory, one after another, and records the changes. */
export function createLedger(found: Found, deps: LedgerDeps, now: number): Ledger {
  const { ranges, standings, traitsOf } = deps
  const usages = new Map<string, RateUsage>()
  const addresses = new Map<string, AddressRow>()
  const reports: AttackReportRow[] = []
  const refutations = new Map<string, Refutation>()
  const networks = new Map<string, { network: string; origin: string }>()

  const takeFrom = (source: string, requests: number) =>
    takeOne(usages.get(source) ?? found.usages.get(source), { source, requests }, now)

  function admit({ source, site }: Reporter): Allowance {
    const own = takeFrom(source, RATE.requests)
    const around = site === null ? null : takeFrom(site, RATE.siteRequests)
    if (around && !around.allowance.allowed) return around.allowance
    if (!own.allowance.allowed) return own.allowance
    usages.set(source, own.usage)
    if (site !== null && around) usages.set(site, around.usage)
    return own.allowance
  }

  function take(report: AttackReport, sender: Sender): AppliedOutcome {
    const { key } = report.subject
    if (ranges.is('whitelist', key)) {
      refute(sender, key, 'whitelist')
      return IGNORED
    }
    const isCanary = ranges.is('canary', key)
    const shared = ranges.is('shared', key)
    const { reporter, standing } = sender
    const known = { bootstrap: standings.isBootstrap(), wellKnown: ranges.isWellKnown(key) }
    const taking = { now, reporter, standing, shared, ...known, traitsOf }
    const row = isCanary ? undefined : (addresses.get(key) ?? found.addresses.get(key))
    const taken = applyReport(row, report, taking)
    if (isCanary) refute(sender, key, 'canary')
    else if (taken.changed) note(report, sender, taken)
    return taken.outcome
  }

  function refute(
    { reporter: { network } }: Sender,
    address: string,
    cause: 'whitelist' | 'canary',
  ): void {
    refutations.set(`${network} ${address}`, { network, address, cause })
  }

  function note(
    { service, port, count }: AttackReport,
    sender: Sender,
    taken: ReturnType<typeof applyReport>,
  ): void {
    const { row, strong, counted, early } = taken
    const { network, origin } = sender.reporter
    addresses.set(row.address, row)
    networks.set(network, { network, origin })
    const { tokenId } = sender
    reports.push({
      address: row.address,
      service,
      port,
      count,
      network,
      origin,
      strong,
      counted,
      early,
      tokenId,
    })
  }

  function changes(): Changes {
    const counted = reports.filter((report) => report.counted)
    return {
      addresses: [...addresses.values()],
      usages: [...usages.values()].map((after) => ({
        before: found.usages.get(after.source),
        after,
      })),
      reports,
      counts: countServices(counted),
      systemCounts: countSystems(counted, deps.networkOfAttacker),
      tokenCounts: countTokens(counted),
      networks: standings
        .unseen([...networks.keys()], now)
        .flatMap((network) => networks.get(network) ?? []),
      refutations: [...refutations.values()],
    }
  }

  return { admit, take, changes }
}

function countServices(reports: AttackReportRow[]): { service: string; reports: number }[] {
  const byService = Map.groupBy(reports, ({ service }) => service)
  return [...byService].map(([service, those]) => ({ service, reports: those.length }))
}

function countSystems(
  reports: AttackReportRow[],
  networkOf: LedgerDeps['networkOfAttacker'],
): Changes['systemCounts'] {
  const located = reports.map((report) => ({ ...report, attacker: networkOf(report.address) }))
  const byNetwork = Map.groupBy(located, ({ attacker }) => attacker.network)
  return [...byNetwork].flatMap(([network, those]) =>
    countServices(those).map((count) => ({
      ...count,
      network,
      name: those[0]?.attacker.name ?? '',
    })),
  )
}

function countTokens(reports: AttackReportRow[]): Changes['tokenCounts'] {
  const withToken = reports.filter(({ tokenId }) => tokenId !== null)
  const byToken = Map.groupBy(withToken, ({ tokenId }) => String(tokenId))
  return [...byToken].flatMap(([tokenId, those]) =>
    countServices(those).map((count) => ({ ...count, tokenId })),
  )
}
