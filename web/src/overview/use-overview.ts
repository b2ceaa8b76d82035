import { useQueries, useQuery } from '@tanstack/react-query'
import { channelsQuery } from '../alerts/api.ts'
import { appealsQuery, candidatesQuery, holdQuery } from '../attacks/api.ts'
import { casesQuery } from '../delisting/api.ts'
import { domainsQuery, mailboxesQuery } from '../dmarc/api.ts'
import { migrationsQuery } from '../migrations/api.ts'
import { hostsQuery } from '../monitoring/api.ts'
import { accountQuery } from '../queries.ts'
import { endpointsQuery } from '../webhooks/api.ts'
import type { OverviewData } from './issues.ts'

type Found = {
  /** null until every room has answered. */
  things: OverviewData | null
  /** Nothing was begun in any room. */
  isNew: boolean
  /** What a room answered instead; it does not hide the others. */
  problems: string[]
}

/** The person's things in every room. */
export function useOverview(): Found {
  const { data: account } = useQuery(accountQuery)
  const enabled = account?.admin === true
  return useQueries({
    queries: [
      hostsQuery,
      casesQuery({}),
      migrationsQuery(1),
      domainsQuery,
      mailboxesQuery,
      channelsQuery,
      endpointsQuery,
      { ...appealsQuery(1), enabled },
      { ...holdQuery, enabled },
      { ...candidatesQuery(1), enabled },
    ],
    combine: (all) => {
      const [hosts, cases, migrations, domains, mailboxes, channels, endpoints, appeals, hold, candidates] = all
      const problems = new Set(all.flatMap(({ error }) => (error ? [error.message] : [])))
      const things = {
        hosts: hosts.data ?? [],
        cases: cases.data?.processes ?? [],
        migrations: migrations.data?.migrations ?? [],
        domains: domains.data ?? [],
        mailboxes: mailboxes.data ?? [],
        channels: channels.data ?? [],
        appeals: appeals.data?.appeals ?? [],
        hold: hold.data ?? null,
        candidates: candidates.data?.pagination.total ?? 0,
      }
      const begun = [
        things.hosts,
        things.cases,
        things.migrations,
        things.domains,
        things.appeals,
        endpoints.data ?? [],
      ]
      return {
        things: all.some(({ isLoading }) => isLoading) ? null : things,
        isNew: begun.every(({ length }) => length === 0),
        problems: [...problems],
      }
    },
  })
}
