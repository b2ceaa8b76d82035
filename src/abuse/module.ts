import type { Routes } from '../http/scopes.ts'
import type { Job } from '../jobs/job.ts'
import type { PublicFeeds } from '../public-feeds/public-feeds.ts'
import type { Retention } from '../store/retention.ts'
import { abuseJobs } from './abuse-jobs.ts'
import { RETENTION } from './abuse-retention.ts'
import { openAttackList, type AttackList, type AttackListOptions } from './attack-list.ts'
import { startListPublisher } from './export/list-publisher.ts'
import { describeReporting } from './lookup/address-reporting.ts'
import { abuseRoutes } from './routes.ts'

/** The attack list: reports in, scores, a list out. */
export type Abuse = {
  jobs: Job[]
  retention: Retention[]
  /** `/api/v1/abuse/…` */
  routes: Routes<object>
  /** What the fleets and the exchange with others build on. */
  list: AttackList
  /** Scores and publishes the list, on one instance at a time. @returns stops it */
  startWork(): () => Promise<void>
  /** What it knows of an address, for a workspace. */
  describeAddress(
    workspaceId: string,
    address: { ip: string; key: string },
  ): ReturnType<typeof describeReporting>
  /** Waits for reports that are being stored. */
  close(): Promise<void>
}

/** Creates the attack list on a migrated database. */
export async function createAbuseModule(
  options: AttackListOptions & { publicFeeds: Pick<PublicFeeds, 'find'> },
): Promise<Abuse> {
  const list = await openAttackList(options)
  const { publicFeeds } = options
  return {
    jobs: abuseJobs(list),
    retention: RETENTION,
    routes: abuseRoutes(list, publicFeeds),
    list,
    startWork: () => startListPublisher(list),
    describeAddress: (workspaceId, address) =>
      describeReporting({ ...list, publicFeeds }, workspaceId, address),
    close: () => list.close(),
  }
}
