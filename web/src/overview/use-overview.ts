import { useQueries, useQuery } from '@tanstack/react-query'
import { alertsQuery, channelsQuery } from '../alerts/api.ts'
import { appealsQuery, candidatesQuery, holdQuery, reportTokensQuery } from '../attacks/api.ts'
import { mailTestsQuery } from '../deliverability/api.ts'
import { delistingsQuery } from '../delisting/api.ts'
import { watchedDomainsQuery } from '../domains/api.ts'
import { domainsQuery, mailboxesQuery } from '../dmarc/api.ts'
import { migrationsQuery } from '../migrations/api.ts'
import { hostsQuery } from '../monitoring/api.ts'
import { accountQuery } from '../queries.ts'
import { endpointsQuery } from '../webhooks/api.ts'
import { NO_HOSTS, type OverviewData } from './problems.ts'
import { MAX_CARDS, MAX_HOSTS } from './limits.ts'

/** The modules that have something of this workspace. */
export type Progress = Record<
  'domains' | 'mailTests' | 'hosts' | 'migrations' | 'endpoints' | 'servers',
  boolean
>

type Overview = {
  /** Null until every module has answered. */
  data: OverviewData | null
  /** Whether the account has no objects in any module yet. */
  isNew: boolean
  progress: Progress
  /** Errors of single modules, which do not hide the others. */
  failures: string[]
}

/** Loads the objects of the account from every module. */
export function useOverview(): Overview {
  const { data: account } = useQuery(accountQuery)
  const enabled = account?.admin === true
  return useQueries({
    queries: [
      watchedDomainsQuery(MAX_CARDS),
      alertsQuery({}),
      hostsQuery({ limit: MAX_HOSTS }),
      delistingsQuery({}),
      migrationsQuery(),
      domainsQuery,
      mailboxesQuery,
      channelsQuery,
      endpointsQuery,
      mailTestsQuery(null),
      reportTokensQuery,
      { ...appealsQuery(1), enabled },
      { ...holdQuery, enabled },
      { ...candidatesQuery(1), enabled },
    ],
    combine: (all) => {
      const [
        watched,
        alerts,
        hosts,
        cases,
        migrations,
        domains,
        mailboxes,
        channels,
        endpoints,
        mailTests,
        servers,
        appeals,
        hold,
        candidates,
      ] = all
      const failures = new Set(all.flatMap(({ error }) => (error ? [error.message] : [])))
      const data = {
        watched: {
          domains: watched.data?.domains ?? [],
          total: watched.data?.pagination.total ?? 0,
        },
        alerts: alerts.data?.alerts ?? [],
        hosts: hosts.data ?? NO_HOSTS,
        cases: cases.data?.processes ?? [],
        migrations: migrations.data?.migrations ?? [],
        domains: domains.data ?? [],
        mailboxes: mailboxes.data ?? [],
        channels: channels.data ?? [],
        appeals: appeals.data?.appeals ?? [],
        hold: hold.data ?? null,
        candidates: candidates.data?.pagination.total ?? 0,
      }
      const collections = [
        data.watched.domains,
        data.hosts.rows,
        data.cases,
        data.migrations,
        data.domains,
        data.appeals,
        endpoints.data ?? [],
      ]
      return {
        data: all.some(({ isLoading }) => isLoading) ? null : data,
        isNew: collections.every(({ length }) => length === 0),
        progress: {
          domains: data.domains.length > 0 || data.watched.total > 0,
          hosts: data.hosts.rows.length > 0,
          migrations: data.migrations.length > 0,
          endpoints: (endpoints.data ?? []).length > 0,
          mailTests: (mailTests.data?.data ?? []).length > 0,
          servers: (servers.data ?? []).length > 0,
        },
        failures: [...failures],
      }
    },
  })
}
