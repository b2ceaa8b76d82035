import type { Kysely } from 'kysely'
import { Type, type TSchema } from 'typebox'
import type { PrivateTargets } from '../config.ts'
import type { Door } from '../http/auth.ts'
import { Failure, Uuid } from '../http/schema.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import type { Resolver } from '../net/dns.ts'
import type { DB } from '../store/tables.ts'
import type { FindAsn } from './summary/summary.ts'

/** What the work on reports is given. */
export type DmarcDeps = {
  db: Kysely<DB>
  resolver: Resolver
  allowPrivate: PrivateTargets
  secretKey: string
  /** The domain of the addresses that receive reports. */
  reportDomain: string
  findAsn: FindAsn
}

/** What the routes are given besides. */
export type RouteDeps = DmarcDeps & { door: Door; queue: Queue; fetchJob: Job }

export const security: Record<string, string[]>[] = [{ token: [] }, { session: [] }]
export const tags = ['DMARC reports']
export const byId = Type.Object({ id: Uuid })

/** Typed as any schema, because rows hold Dates where the answer holds their text. */
export function answers(success: TSchema, status = 200): Record<string, TSchema> {
  return { [status]: success, '4xx': Failure, '5xx': Failure }
}

/** One page of a list, and where it stands among all. */
export function pagination({ page, limit }: { page: number; limit: number }, total: number) {
  return { page, total, totalPages: Math.ceil(total / limit) }
}

/** What a page leaves out before it begins. */
export function pageOf({ page, limit }: { page: number; limit: number }) {
  return { limit, offset: (page - 1) * limit }
}
