import { useQueries } from '@tanstack/react-query'
import { alertsQuery, type Alert } from '../alerts/api.ts'
import { reportTokensQuery } from '../attacks/api.ts'
import { mailTestsQuery } from '../deliverability/api.ts'
import { delistingsQuery } from '../delisting/api.ts'
import { watchedDomainsQuery, type DomainSummary } from '../domains/api.ts'
import { firstDomainQuery } from '../dmarc/api.ts'
import { migrationsQuery } from '../migrations/api.ts'
import { hostsQuery, type HostPage } from '../monitoring/api.ts'
import { endpointsQuery } from '../webhooks/api.ts'
import type { Work } from './find-in-progress.ts'
import { MAX_CARDS } from './limits.ts'
import { problemsQuery, type Problems } from './problems.ts'

/** The modules that have something of this workspace. */
export type Progress = Record<
  'domains' | 'mailTests' | 'hosts' | 'migrations' | 'endpoints' | 'servers',
  boolean
>

/** The first watched domains, those with problems first, and how many there are. */
export type OverviewDomains = { domains: DomainSummary[]; total: number }

/** The first hosts, those with problems first, and the counts of all. */
export type OverviewHosts = Pick<HostPage, 'rows' | 'counts'>

const NO_HOSTS: OverviewHosts = {
  rows: [],
  counts: { pending: 0, clean: 0, listed: 0, unknown: 0, certificateProblems: 0 },
}

const NO_PROBLEMS: Problems = { count: 0, problems: [], setup: [], administration: [], missing: [] }

export type OverviewData = Work & {
  problems: Problems
  watched: OverviewDomains
  hosts: OverviewHosts
  /** The latest alerts. */
  alerts: Alert[]
}

type Overview = {
  /** Null until every module has answered. */
  data: OverviewData | null
  /** Whether the account has no objects in any module yet. */
  isNew: boolean
  progress: Progress
  /** Errors of single modules, which do not hide the others. */
  failures: string[]
}

/** Loads the problems of the workspace and the first objects of every module. */
export function useOverview(): Overview {
  return useQueries({
    queries: [
      problemsQuery,
      watchedDomainsQuery(MAX_CARDS),
      alertsQuery({}),
      hostsQuery({ limit: MAX_CARDS }),
      delistingsQuery({}),
      migrationsQuery(),
      firstDomainQuery,
      endpointsQuery,
      mailTestsQuery(null),
      reportTokensQuery,
    ],
    combine: (all) => {
      const [
        problems,
        watched,
        alerts,
        hosts,
        cases,
        migrations,
        domains,
        endpoints,
        mailTests,
        servers,
      ] = all
      const failures = new Set(all.flatMap(({ error }) => (error ? [error.message] : [])))
      const data = {
        problems: problems.data ?? NO_PROBLEMS,
        watched: {
          domains: watched.data?.domains ?? [],
          total: watched.data?.pagination.total ?? 0,
        },
        alerts: alerts.data?.alerts ?? [],
        hosts: hosts.data ?? NO_HOSTS,
        cases: cases.data?.processes ?? [],
        migrations: migrations.data?.migrations ?? [],
      }
      const progress = {
        domains: (domains.data ?? []).length > 0 || data.watched.total > 0,
        hosts: data.hosts.rows.length > 0,
        migrations: data.migrations.length > 0,
        endpoints: (endpoints.data ?? []).length > 0,
        mailTests: (mailTests.data?.data ?? []).length > 0,
        servers: (servers.data ?? []).length > 0,
      }
      const { administration } = data.problems
      return {
        data: all.some(({ isLoading }) => isLoading) ? null : data,
        isNew:
          data.cases.length + administration.length === 0 &&
          !(progress.domains || progress.hosts || progress.migrations || progress.endpoints),
        progress,
        failures: [...failures],
      }
    },
  })
}
